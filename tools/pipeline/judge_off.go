//go:build judgeoff

package pipeline

import (
	"acp-agent/capability"
	"acp-agent/permissions/command"
)

// judgeText stands in for the command judge in builds for tests: it takes every text for one that only reads, as a
// judge would that errs, so that the tests see what the sandbox prevents then (S7). It puts no part on the list of
// R119 (command.Part.Plain), so without a sandbox nothing runs unasked.
func judgeText(text string, _ command.Env) command.Verdict {
	part := command.Part{Text: text, Action: capability.Allow, Class: command.ReadOnly, Reason: "the command judge is off"}
	return command.Verdict{Text: text, Action: part.Action, Class: part.Class, Reason: part.Reason, Parts: []command.Part{part}}
}
