// Package subagents tests the whole agent when several agents work at once: subagents, and other agent
// processes, that ask and edit.
//
// No edit of theirs may be lost. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package subagents
