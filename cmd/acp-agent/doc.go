// Command acp-agent is a coding agent for editors that speak the Agent Client
// Protocol.
//
// Without arguments it serves ACP on stdin and stdout, as editors start it.
// Its subcommands are for people: demo shows the whole thing in a terminal
// with a scripted model, run is one headless turn, tools lists the tools, tool
// runs one by hand, validate checks a tool or a mount plan, permissions explains
// what would become of a call and what a rule would have changed, version says
// what it is.
//
// root.go holds the command line and the exit codes; each subcommand has a file
// of its own. wire.go puts the packages together: backend.go for the model
// server, toolset.go and describe.go for the tools, web.go for what the web
// tools reach, languages.go for language servers, settings.go for what the
// configuration means to each package, log.go for the log, explainer.go for the
// workspaces of permissions explain. Nothing else is
// decided here.
//
// It may import everything. Goroutines: those of demo, see runDemo.
//
// # Requirements
//
// R8, R81, R118, R122 (run is headless), R145 (stdout belongs to the protocol), R164, R165.
package main
