package redact

import "sync"

// formIndex finds out in one pass over a text which forms of keys may be in it: most texts hold
// none, and looking for each by itself takes as many passes as there are forms.
type formIndex struct {
	forms []keyForm
	// at has for each of the first bytes of a prefix, and for each byte, the forms that have it
	// there, a bit for each: there can be 64.
	at [leastPrefix][256]uint64
}

// leastPrefix is the length of the shortest prefix.
const leastPrefix = 3

var knownForms = sync.OnceValue(func() *formIndex {
	x := &formIndex{forms: keyForms()}
	for i, form := range x.forms {
		for at := range x.at {
			x.at[at][form.prefix[at]] |= 1 << i
		}
	}
	return x
})

// in yields the forms whose prefix may be in a text.
func (x *formIndex) in(text string) func(yield func(keyForm) bool) {
	var found uint64
	for i := range len(text) - leastPrefix + 1 {
		found |= x.at[0][text[i]] & x.at[1][text[i+1]] & x.at[2][text[i+2]]
	}
	return func(yield func(keyForm) bool) {
		if found == 0 {
			return
		}
		for i, form := range x.forms {
			if found&(1<<i) != 0 && !yield(form) {
				return
			}
		}
	}
}
