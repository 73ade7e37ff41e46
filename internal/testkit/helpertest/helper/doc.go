// Command helper is the agent's helper alone, for tests: it starts a command, tries out a
// sandbox, or goes on confining from within, as the agent's binary does when it is started
// with those arguments.
//
// It owns nothing. It refuses to know the agent. It imports internal/egress, internal/launch,
// internal/netns and sandbox, and starts no goroutine of its own.
//
//	helper __exec
//
// # Requirements
//
// None of its own: see internal/testkit/helpertest.
package main
