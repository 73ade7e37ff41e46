// Package interop tests the whole agent with programs of others: the official SDK and acpx as clients, the
// reference servers of MCP, and the official SDKs of model servers (make interop).
//
// Without them its tests are skipped, but in CI, where they fail. The driver is in
// testdata/interop. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package interop
