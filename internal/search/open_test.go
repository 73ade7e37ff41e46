package search_test

import (
	"os"

	"acp-agent/internal/search"
)

// openDir opens a directory of a test.
func openDir(tb interface {
	Helper()
	Fatal(...any)
}, dir string,
) search.Dir {
	tb.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer root.Close()
	d, err := search.FromRoot(root)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
