// Package pathname compares paths as text. It is the one place that says what
// "this path is inside that directory" means: see [Contains].
//
// It looks at no disk and follows no links, so its answer is about names. A
// decision about what may be read or written is not taken from it: package
// workspace opens a path from a root's handle and compares the identity of
// directories. It refuses to know what a directory is for.
//
// It imports the standard library and starts no goroutines.
//
//	if pathname.Contains(root, path) { ... } // root itself, or anything below it
//	if rel, ok := pathname.Rel(root, path); ok { ... }
//
// # Requirements
//
// R113 (confinement). docs/security.md P1.
package pathname
