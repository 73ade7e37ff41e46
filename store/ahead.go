package store

import (
	"iter"
	"sync"
)

// mostAhead bounds a batch of ahead, and batchesAhead how many of them wait.
const (
	mostAhead    = 32
	batchesAhead = 2
)

// ahead yields what seq yields, which a goroutine reads ahead: one processor decodes a conversation
// while another shows it. The first is handed on at once, what follows in batches that grow. The
// goroutine has ended when the iteration has.
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
