// Package testfile finds the repository's files for tests, and writes files of theirs.
//
// It owns no format: a test says what a file holds. It imports the standard library and
// starts no goroutines. Only tests import it.
//
//	script := testfile.Repository(t, "testdata", "scripts", "bash_plain.txtar")
//	env := testfile.Config(t, `{"tools": {"mount": [{"source": %q}]}}`, dir)
//
// # Requirements
//
// None of its own: tests of the whole agent stand on it.
package testfile
