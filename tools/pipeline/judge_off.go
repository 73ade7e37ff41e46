//go:build judgeoff

package pipeline

import (
	"acp-agent/capability"
	"acp-agent/permissions/command"
)

// judgeText takes every text for one that only reads, as a judge does that errs. Tests build
// the program so, to see what a command can do then (S7). No such part is on the list of
// R119, which is all that runs unasked without a sandbox.
func judgeText(text string, _ command.Env) command.Verdict {
	part := command.Part{Text: text, Action: capability.Allow, Class: command.ReadOnly, Reason: "the command judge is off"}
	return command.Verdict{Text: text, Action: part.Action, Class: part.Class, Reason: part.Reason, Parts: []command.Part{part}}
}
