// Package regularfile reads files that someone else may have put there: settings of other programs, of
// a repository or of a project.
//
// It owns how to do that without harm: a pipe in the place of the file is not waited for, a device is
// not read, and a file that never ends is read up to a limit. It follows links. Files below a directory
// that must not be left are opened by [os.Root] and not here.
//
// It imports internal/rootfile and starts no goroutines.
//
//	settings, err := regularfile.Read("/etc/npmrc", 64<<10)
//
// # Requirements
//
// docs/security.md P6.
package regularfile
