// Package app is the program acp-agent: its command line, and the place where all
// packages are put together. cmd/acp-agent runs it, and so do the tests of the whole
// agent (internal/e2e).
//
// Without arguments it serves ACP on stdin and stdout, as editors start it.
// Its subcommands are for use in a terminal; each Short says what one does.
//
// root.go holds the command line and the exit codes; each subcommand has a file
// of its own, and wire.go puts the packages together:
//
//	backend.go, modelservers.go  the model servers; redactedprovider.go redacts keys that one repeats
//	keys.go, paths.go            which keys nothing may hold; the agent's own directories
//	settings.go                  what the configuration means to each package
//	toolset.go, describe.go      the tools and modules; web.go is what the web tools reach
//	languages.go, mcp.go         language servers and MCP servers
//	trusting.go                  what trust in a project allows
//	watchdog.go, program.go      the programs that judge calls; how these and modules are run
//	explainer.go                 the workspaces of permissions explain
//	tape.go and its neighbours   what is recorded, and answered from a recording
//	log.go, outlet.go            the log, and how it waits for no reader and no disk
//	memory.go                    when garbage is collected
//
// Nothing else is decided here.
//
// It may import everything. Goroutines: those of demo, see runDemo, the one that reads
// records, see recordedCalls, and the writers of the log, see outlet.
//
// # Requirements
//
// R8, R68 (run waits for subagents), R81, R118, R121 (starts watchdogs), R122 and R124 (run is
// headless), R129 (audit), R144 (sessions export), R145 (stdout belongs to the protocol), R164, R165.
package app
