// Package acptest is an editor for tests: it starts the agent as a child
// process, speaks the protocol to it line by line, and judges all that comes
// back.
//
// It owns the child, the record of every line in both directions, the answers
// to the agent's requests (permissions, files, terminals), the language of the
// client scripts in testdata/scripts ([Play]), and the rules that hold for
// every run whatever it is about ([Check]): each line fits the official
// schema, where that is installed; each tool call reaches exactly one final
// status; nothing of a turn comes after its answer; no field is sent twice
// unchanged, and none about the session itself soon after an answer with
// cancelled; the agent exits soon after its input ends, with 0, and leaves no
// process behind. It refuses to know the agent's insides: it works on lines,
// with its own reading of the protocol, so that it can disagree with acp/v1.
//
//	agent := acptest.Start(t, acptest.Options{Script: "model.jsonl", Permission: acptest.Answer("allow_once")})
//	agent.Initialize(`{"terminal":true}`)
//	session := agent.NewSession(dir)
//	turn := session.Prompt("fix the greeting")
//	turn.Ends("end_turn")
//
// The test ends the agent and checks the run by itself; [Agent.Close] does so
// earlier.
//
// The program under test is the test binary itself, so that it is built once
// and has the race detector when the test has: its TestMain runs the program
// where [EnvProgram] is set.
//
// It is for tests. It imports internal/testkit/helpertest, internal/testkit/schematest and the standard library.
// Each Agent runs a reader of the child's output, one of its errors, one
// goroutine for each request that it answers, and those of its terminals; Close
// waits for all of them.
//
// # Requirements
//
// R145, R147, R149, R150, R153, R163 (test support).
package acptest
