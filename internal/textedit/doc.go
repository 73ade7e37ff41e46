// Package textedit is the machinery below the edit tool: it finds an old text
// in a file, replaces it, and shows the change.
//
// It owns matching (exact first, then forgiving whitespace), the line endings,
// byte order mark and final newline of the file, the line range of a change,
// the hint after a miss and git-style diffs. It refuses to
// know files, locks, tools and the wire: text goes in, text comes out.
//
//	res, err := textedit.Apply(ctx, content, "foo()", "bar()", false)
//	switch {
//	case errors.As(err, new(textedit.NotFoundError)):
//		hint := textedit.NearestHint(ctx, content, "foo()")
//	case err == nil:
//		diff := textedit.Unified(ctx, "main.go", content, res.Content)
//	}
//
// Allowed imports: the standard library, aymanbagabas/go-udiff (unified text),
// sergi/go-diff (nearness). It starts no goroutines.
//
// # Requirements
//
// R36, R37, R38, R39, R40, R41.
package textedit
