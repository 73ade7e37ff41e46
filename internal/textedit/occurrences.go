package textedit

import "iter"

// Occurrences yields where want stands in have, in order, in time linear in both
// (Knuth, Morris and Pratt): a text that repeats itself costs no more than any
// other. Without overlap, none begins within the one before it. want must not be
// empty.
func Occurrences[E comparable](have, want []E, overlap bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		fall := borders(want)
		matched := 0
		for i, e := range have {
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
func borders[E comparable](pattern []E) []int32 {
	fall := make([]int32, len(pattern))
	for i, k := 1, 0; i < len(pattern); i++ {
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
