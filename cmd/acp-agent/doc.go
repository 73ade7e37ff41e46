// Command acp-agent is a coding agent for editors that speak the Agent Client
// Protocol.
//
// Without arguments it serves ACP on stdin and stdout, as editors start it.
// Its subcommands are for people: demo shows the whole thing in a terminal
// with a scripted model, run is one headless turn, version says what it is.
//
// root.go holds the command line and the exit codes; each subcommand has a file
// of its own. wire.go puts the packages together, with backend.go for the model
// server, settings.go for what the configuration means to each package, and
// log.go for the log. Nothing else is decided here.
//
// It may import everything. Goroutines: those of demo, see runDemo.
//
// # Requirements
//
// R122 (run is headless), R145 (stdout belongs to the protocol), R165, R8, R81, R164.
package main
