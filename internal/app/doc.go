// Package app is the program acp-agent: its command line, and the place where all
// packages are put together. cmd/acp-agent runs it, and so do the tests of the whole
// agent (internal/e2e).
//
// Without arguments it serves ACP on stdin and stdout, as editors start it.
// Its subcommands are for people: demo shows the whole thing in a terminal
// with a scripted model, run is one headless turn, tools lists the tools, tool
// runs one by hand, validate checks a tool or a mount plan, permissions explains
// what would become of a call and what a rule would have changed, and lists and
// revokes rules, trust says whether a project is trusted, audit shows and verifies
// the record of what calls did, sessions
// lists, shows, searches, exports and deletes conversations, doctor looks at the machine, version says what it is.
//
// root.go holds the command line and the exit codes; each subcommand has a file
// of its own. wire.go puts the packages together: backend.go for the model
// server, toolset.go and describe.go for the tools, web.go for what the web
// tools reach, languages.go for language servers, settings.go for what the
// configuration means to each package, trusting.go for what trust in a project
// allows, explainer.go for the workspaces of permissions explain, watchdog.go for
// the programs that judge calls, program.go for how these and modules are run, redactedprovider.go
// for what a model's server repeats, log.go for the log,
// outlet.go so that it waits for no reader and no disk, memory.go for what the
// collector heeds of a container's limit. Nothing else is decided here.
//
// It may import everything. Goroutines: those of demo, see runDemo, the one that reads
// records, see recordedCalls, and the writers of the log, see outlet.
//
// # Requirements
//
// R8, R68 (run waits for subagents), R81, R118, R121 (starts watchdogs), R122 and R124 (run is
// headless), R129 (audit), R144 (sessions export), R145 (stdout belongs to the protocol), R164, R165.
package app
