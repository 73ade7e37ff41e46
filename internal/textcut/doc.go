// Package textcut cuts text to a size without cutting a character in two.
//
// It owns the cut of a text at its end ([First], [Characters]) or at its beginning ([Last]),
// the beginning ([Head]) and the end ([Tail]) of a stream, the pieces of a stream in whole
// characters ([Splitter]), and the line of a stream that may not be longer than a limit ([Line]). Limits are bytes, but for those of [Characters].
//
// It does not know what a text is for: what a caller puts at the cut, such as "…", is the
// caller's. It imports the standard library and starts no goroutines.
//
//	shown := textcut.First(text, 500)
//	if len(shown) < len(text) {
//		shown += "…"
//	}
//
// # Requirements
//
// R108 (a cut does not split a character), docs/security.md M2 (bounds of messages).
package textcut
