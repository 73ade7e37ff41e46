package store

import (
	"iter"
	"sync"
)

// mostAhead bounds a batch of ahead, and batchesAhead the number of batches that wait.
const (
	mostAhead    = 32
	batchesAhead = 2
)

// ahead yields the values of seq, which a goroutine reads ahead, so that one processor decodes a
// conversation while another shows it. The first value is passed on at once, the others in batches that
// grow. The goroutine ends with the iteration.
func ahead[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	type item struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		batches, enough := make(chan []item, batchesAhead), make(chan struct{})
		var reader sync.WaitGroup
		defer reader.Wait()
		defer close(enough)
		reader.Go(func() {
			defer close(batches)
			var batch []item
			hand := func() bool {
				select {
				case batches <- batch:
					batch = make([]item, 0, min(2*len(batch), mostAhead))
					return true
				case <-enough:
					return false
				}
			}
			for value, err := range seq {
				if batch = append(batch, item{value, err}); len(batch) >= max(cap(batch), 1) && !hand() {
					return
				}
			}
			if len(batch) > 0 {
				hand()
			}
		})
		for batch := range batches {
			for _, one := range batch {
				if !yield(one.value, one.err) {
					return
				}
			}
		}
	}
}
