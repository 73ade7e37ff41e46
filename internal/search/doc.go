// Package search is the engine below the glob and grep tools: it walks a
// directory tree in a fixed order, honours ignore files, and finds lines fast.
//
// It owns the walk, the meaning of file patterns (doublestar) and of search
// patterns (RE2, one line at a time), and the limits on what is shown. It
// refuses to know agents, tool results and path policy: the caller opens the
// directory, and nothing reached through a [Dir] can leave it, since names are
// single elements and symlinks are never followed.
//
//	root, err := search.FromRoot(osRoot)
//	if err != nil {
//		return err
//	}
//	defer root.Close()
//	res, err := search.Grep(ctx, root, search.GrepOptions{
//		Base:    "/work/project",
//		Pattern: `func \w+Server`,
//		Glob:    "*.go",
//	}, sidecar)
//
// How a line is found: a set of literals of which every match must contain one
// is derived from the pattern (literal.go) and looked for by its rarest byte
// or by a shift table (finder.go). A line that holds one is judged by an
// automaton built while it runs (automaton.go), which also reads everything
// where there is no literal. Package regexp judges only patterns too large for
// that, and is the oracle of the tests.
//
// Files are judged by name before they are opened; content with a NUL in its
// first 8 KiB or a mark of UTF-16 is binary and skipped. A line ends at LF or
// CRLF, which is not part of it. Lines beyond 1 MiB are judged whole and
// listed by their head.
//
// Allowed imports: the standard library, bmatcuk/doublestar, x/sys/unix and
// internal/gitignore. [Grep] starts the goroutines listed at the pipeline type
// and returns after they have ended; [Glob] starts none. Nothing here logs.
//
// # Requirements
//
// R30 (by [GrepOptions].Skip), R42, R43, R44, R45, R46, R47, R48, R49, R50,
// R105 (the full list), R108.
package search
