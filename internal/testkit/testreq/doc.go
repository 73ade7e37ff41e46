// Package testreq lets a test say that something it needs is absent on this machine, and
// how much of a long test is enough for a short run, and how much time a deadline is given.
//
// It owns three decisions. Where something is absent, a test is skipped on a developer's
// machine and fails in CI, which sets ACP_REQUIRE_ALL=1, so that no check disappears
// unseen. And a test that repeats something many times, or goes through many cases that take
// long, has two forms: go test ./... runs the short one, and make test, which sets
// ACP_TEST_FULL=1, the full one. No test does nothing in the short form. And a deadline that the product states is
// stretched where the race detector slows it down. The package refuses
// to know what is needed and how to look for it. Only tests import it; it imports the
// standard library and starts no goroutines.
//
//	path, err := exec.LookPath("rg")
//	if err != nil {
//		testreq.Skip(t, "ripgrep is not installed")
//	}
//	for range testreq.Rounds(4, 60) {
//		// kill the program at a random moment, and look at what is left
//	}
//
// # Requirements
//
// None of its own: it guards the tests of all others.
package testreq
