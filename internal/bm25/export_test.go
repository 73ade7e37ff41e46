package bm25

// Terms is what a text is found by.
func Terms(text string) []string { return terms(text) }

// Len is the number of documents.
func (x *Index) Len() int { return len(x.ids) }
