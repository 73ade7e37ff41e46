// Command acp-agent is a coding agent for editors that speak the Agent Client
// Protocol.
//
// Without arguments it serves ACP on stdin and stdout, as editors start it.
// Its subcommands are for people: demo shows the whole thing in a terminal
// with a scripted model, run is one headless turn, version says what it is.
//
// main.go looks at the arguments, wire.go puts the packages together; each
// subcommand has a file of its own. Nothing else is decided here.
//
// # Requirements
//
// R122 (run is headless), R145 (stdout belongs to the protocol), R165.
package main
