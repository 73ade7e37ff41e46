// Command acp-agent is a coding agent for editors that speak the Agent Client
// Protocol.
//
// Without arguments it serves ACP on stdin and stdout, as editors start it. Its
// subcommands are for people; acp-agent help lists them. The program itself is
// internal/app, so that tests of the whole agent can run it, too.
//
// # Requirements
//
// None of its own: internal/app fulfils them.
package main
