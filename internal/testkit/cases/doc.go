// Package cases reads the case files of the permissions, testdata/cases, for tests and
// benchmarks: which call must be allowed, asked about or denied.
//
// It owns the format of the files, and the [Fixture] that their calls are about: a
// workspace with a repository, a directory outside of it and a home. It refuses to know
// how a call is judged. It imports internal/testkit/testfile and testreq, and starts no
// goroutines. Only tests import it.
//
//	fixture := cases.NewFixture(t)
//	for _, c := range cases.Read(t, "commands.txt", fixture.Places()) {
//		tool, args := c.Call(t)
//	}
//
// # Requirements
//
// None of its own: tests of the permissions read it.
package cases
