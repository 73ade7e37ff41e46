// Package gitignore reads .gitignore files and answers whether a path is
// ignored, with the meaning that git itself gives to the patterns.
//
// It owns the pattern language and one file's verdict. It refuses to know file
// systems, directory trees and precedence between files: a walker holds a list
// of [File] values, asks the innermost first and stops descending into ignored
// directories, which is also why a file below an ignored directory cannot be
// included again.
//
//	f := gitignore.Parse([]byte("*.log\n!keep.log\n/build/\n"))
//	f.Match("a/x.log", false)  // gitignore.Ignore
//	f.Match("keep.log", false) // gitignore.Include
//	f.Match("build", true)     // gitignore.Ignore
//	f.Match("main.go", false)  // gitignore.None
//
// Patterns compare bytes, as git does on a case-sensitive file system.
//
// Allowed imports: the standard library. It starts no goroutines; a [File] is
// read-only after [Parse] and safe for concurrent use.
//
// # Requirements
//
// R45, R50.
package gitignore
