// Package patch reads patches as models write them and applies them to texts.
//
// It owns the two forms that are understood (unified diffs of git and of other
// programs, and the "*** Begin Patch" envelope), the forgiving of what models
// get wrong in them (missing headers, wrong line counts, line ends, code fences),
// and the finding of each hunk in a text. It refuses to know files, locks, tools
// and the wire: text goes in, text comes out. What to do with several files, and
// that all of them change or none, is its caller's business.
//
//	p, err := patch.Parse(ctx, text)
//	if err != nil {
//		return err // a *patch.Error: it names the line, and the file
//	}
//	for _, change := range p.Files() {
//		after, err := patch.Apply(ctx, before(change.Path), change)
//		...
//	}
//
// A unified diff is split into files and hunks (unified.go, body.go), whose names
// (header.go) and lines (hunk.go) are then judged; an envelope is read in one pass
// (envelope.go). No library reads either: what models get wrong has to be repaired
// before a strict parser could see it, and then nothing is left to parse.
//
// A hunk is found in three steps, and a later one is tried only when the one
// before finds nothing: the same bytes; the same lines with other line ends; the
// same lines with other whitespace, which must be the only such place. Among
// several places of the first two steps the line number decides. Nothing is
// guessed from meaning.
//
// Allowed imports: the standard library and internal/textedit. It starts no goroutines.
//
// # Requirements
//
// R40, R97.
package patch
