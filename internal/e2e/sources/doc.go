// Package sources tests the whole agent with tools from elsewhere: MCP servers, modules, scripts of a
// toolbox, providers, and web pages, faulty and hostile ones among them; and what the first
// request to a model holds of them.
//
// It owns the servers that it tests with. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package sources
