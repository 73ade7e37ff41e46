package textedit

import (
	"context"
	"iter"
)

// longStride is after how many steps of a loop that does little the end of a context is
// looked for.
const longStride = 1 << 16

// Occurrences yields where want stands in have, in order, in time linear in both
// (Knuth, Morris and Pratt): a text that repeats itself costs no more than any
// other. Without overlap, none begins within the one before it. want must not be
// empty. After the end of ctx there are no more.
func Occurrences[E comparable](ctx context.Context, have, want []E, overlap bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		fall := borders(ctx, want)
		matched := 0
		for i, e := range have {
			if i%longStride == 0 && ctx.Err() != nil {
				return
			}
			for matched > 0 && e != want[matched] {
				matched = int(fall[matched-1])
			}
			if e == want[matched] {
				matched++
			}
			if matched < len(want) {
				continue
			}
			if !yield(i + 1 - matched) {
				return
			}
			if matched = 0; overlap {
				matched = int(fall[len(want)-1])
			}
		}
	}
}

// borders holds, for each beginning of a pattern, the length of its longest
// proper beginning that is also its end.
func borders[E comparable](ctx context.Context, pattern []E) []int32 {
	fall := make([]int32, len(pattern))
	for i, k := 1, 0; i < len(pattern); i++ {
		if i%longStride == 0 && ctx.Err() != nil {
			break
		}
		for k > 0 && pattern[i] != pattern[k] {
			k = int(fall[k-1])
		}
		if pattern[i] == pattern[k] {
			k++
		}
		fall[i] = int32(k)
	}
	return fall
}
