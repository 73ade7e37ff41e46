// Package supervise keeps child processes running: language servers, tool providers and MCP
// servers.
//
// It owns when a process is started again: [Attempts] counts failures in a row, knows the
// backoff schedule, and gives up restarting after too many of them; what worked once starts
// with a clean slate. [Child] is a process that is started when it is needed, by one caller
// at a time, and again after it ended.
//
// It refuses to know how a process is started, what is spoken with it and what ends it: that
// is the owner's [Process].
//
//	server := supervise.New(supervise.Attempts{Max: 4}, start)
//	defer server.Close()
//	process, err := server.Use(ctx) // starts it, or returns the one that runs
//	if err != nil {
//		return err // a *supervise.GaveUpError after 4 failures in a row
//	}
//	if answer, err := process.Ask(ctx, question); err == nil {
//		server.Worked()
//	}
//
// Allowed imports: the standard library. It starts no goroutines.
//
// # Requirements
//
// It supports R91 (MCP servers come back), R94 (tool providers) and R98 (language servers).
package supervise
