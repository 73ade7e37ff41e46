// Package commands tests subcommands of the whole agent where a script cannot: in a terminal, under an
// interrupt, and as the documentation shows them.
//
// It owns the terminal of the login tests. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package commands
