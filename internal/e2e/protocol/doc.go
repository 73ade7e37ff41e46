// Package protocol tests how the whole agent speaks ACP: the points of the protocol, lines that are
// malformed or huge, cancels at any time, an editor that stops reading or ends.
//
// It owns the table of the protocol's points, [TestWire_Points]. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package protocol
