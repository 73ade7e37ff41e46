package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"acp-agent/internal/search"
)

func project() search.Dir {
	return search.FromFS(fstest.MapFS{
		".gitignore":     {Data: []byte("build/\n")},
		"main.go":        {Data: []byte("package main\n\nfunc main() { serve() }\n")},
		"server/http.go": {Data: []byte("package server\n\nfunc Serve() {}\n")},
		"build/out.go":   {Data: []byte("func Serve() {}\n")},
	})
}

// Grep shows the first matches and writes all of them to a writer.
func ExampleGrep() {
	var all strings.Builder
	result, err := search.Grep(context.Background(), project(), search.GrepOptions{
		Base: "/w", Pattern: `func \w+`, Glob: "*.go", MaxTotal: 1,
	}, &all)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Lines, "of", result.Total)
	fmt.Print(all.String())
	// Output:
	// [/w/main.go:3: func main() { serve() }] of 2
	// /w/main.go:3: func main() { serve() }
	// /w/server/http.go:3: func Serve() {}
}

// Glob lists files by a pattern, in a fixed order.
func ExampleGlob() {
	result, err := search.Glob(context.Background(), project(), search.GlobOptions{Base: "/w", Pattern: "**/*.go"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(result.Paths, "\n"))

	_, err = search.Glob(context.Background(), project(), search.GlobOptions{Base: "/w", Pattern: "src/[a-"})
	fmt.Println(err)
	// Output:
	// /w/main.go
	// /w/server/http.go
	// bad pattern "src/[a-": syntax error in pattern
}
