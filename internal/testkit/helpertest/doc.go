// Package helpertest builds the helper of the agent, which starts and confines each
// command, as a small program without the race detector: a test binary with the detector
// takes ten times as long to start, and tests start thousands of commands.
//
// It owns the build, once in a process, and its removal. It refuses to know what the
// helper does: that is in internal/launch and sandbox, whose own tests have it with the
// race detector. It imports the standard library alone, and starts no goroutine.
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
