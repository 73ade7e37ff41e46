// Package helpertest builds the helper of the agent, which starts and confines each
// command, as a small program without the race detector: a test binary takes twice as
// long to start, ten times with the detector, and tests start thousands of commands.
//
// It owns the build, once in a process, and its removal. It refuses to know what the
// helper does: that is in internal/launch and sandbox, whose own tests have it with the
// race detector; that the agent's own binary serves as the helper, internal/e2e/interop
// tests. It imports the standard library alone, and starts no goroutine.
//
//	func TestMain(m *testing.M) {
//		code := m.Run()
//		helpertest.Remove()
//		os.Exit(code)
//	}
//
//	launcher := &launch.Launcher{Self: helpertest.Path()}
//
// # Requirements
//
// None of its own: tests that run commands stand on it.
package helpertest
