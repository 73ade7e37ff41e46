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
// A unified diff is first brought into strict form (unified.go, body.go), which
// bluekeyes/go-gitdiff then reads (strict.go): line numbers in its errors lead
// back to the patch as it was given. An envelope has no library and is read here.
//
// A hunk is found in three steps, and a later one is tried only when the one
// before finds nothing: the same bytes; the same lines with other line ends; the
// same lines with other whitespace, which must be the only such place. Among
// several places of the first two steps the line number decides. Nothing is
// guessed from meaning.
//
// Allowed imports: the standard library, bluekeyes/go-gitdiff and
// internal/textedit. It starts no goroutines.
//
// # Requirements
//
// R40, R97.
package patch
