// Package sandbox tests what the processes of the whole agent can reach, in each kind of sandbox, and
// that they end with the turn, the session and the agent.
//
// Its benchmark measures what a sandbox adds to a command. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package sandbox
