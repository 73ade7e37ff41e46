// Package mcptest is an MCP server over HTTP that wants its user to sign in, together with
// its authorization server, for tests.
//
// It owns both ends of OAuth that are not ours: it registers clients, hands out codes and
// tokens, checks the proof of each exchange, and counts what it is asked. It refuses to know
// our client.
//
//	server := mcptest.Start(t)
//	server.Browse(address) // as the user's browser would
//
// It is for tests. Allowed imports: the server of the MCP library. A Server runs the
// goroutines of net/http/httptest, which end with the test.
//
// # Requirements
//
// R88, R92 (test support).
package mcptest
