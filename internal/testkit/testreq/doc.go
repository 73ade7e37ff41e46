// Package testreq lets a test say that something it needs is absent on this machine.
//
// It owns one decision: on a developer's machine such a test is skipped, in CI, which
// sets ACP_REQUIRE_ALL=1, it fails, so that no check disappears unseen. It refuses to
// know what is needed and how to look for it. Only tests import it; it imports the
// standard library and starts no goroutines.
//
//	path, err := exec.LookPath("rg")
//	if err != nil {
//		testreq.Skip(t, "ripgrep is not installed")
//	}
//
// # Requirements
//
// None of its own: it guards the tests of all others.
package testreq
