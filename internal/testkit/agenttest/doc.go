// Package agenttest lets the test binary of a package be the agent itself, so that tests
// of the whole agent (internal/e2e) run the real program, built once with them and with
// the race detector when they have it.
//
// It owns the TestMain of those packages, [Main] or [MainBusy], and what the program under test can be
// told by its environment and the product cannot: other tools ([EnvTools]), another
// sandbox ([EnvSandbox]), and to say how large it has become ([EnvVitals]). It refuses to
// know the protocol; internal/testkit/acptest speaks it. It imports internal/app and what
// its tools and its sandbox are made of, and in the program under test starts one goroutine, which writes the vitals.
//
//	func TestMain(m *testing.M) { agenttest.Main(m) }
//
//	func TestQueue(t *testing.T) {
//		agent := acptest.Start(t, acptest.Options{Model: agenttest.Hello})
//		...
//	}
//
// # Requirements
//
// None of its own: tests of the whole agent stand on it.
package agenttest
