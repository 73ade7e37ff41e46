package pipeline

import (
	"path/filepath"

	"acp-agent/permissions/command"
	"acp-agent/tools"
)

// judgedText replaces a command by the text that was judged, in which everything that the shell
// would expand is written out. So a file that is made after the judgement matches no pattern (E6).
type judgedText struct {
	text, dir string // the command of the call
	run       string // what runs instead
}

// addText stores the text that runs in the place of a command, and its variables.
func (a *commandAccess) addText(resource tools.Resource, v command.Verdict) {
	if v.Run == "" {
		return
	}
	a.texts = append(a.texts, judgedText{resource.Value, filepath.Clean(resource.Dir), v.Run})
	a.settings = append(a.settings, v.Settings...)
}

// judgedAs returns the text that runs for a command. It refuses a command that was judged for
// another directory, where the patterns would match other files.
func (r *callRuntime) judgedAs(cmd tools.ShellCommand) (string, error) {
	elsewhere := false
	for _, judged := range r.texts {
		if judged.text != cmd.Text {
			continue
		}
		if judged.dir == filepath.Clean(cmd.Dir) {
			return judged.run, nil
		}
		elsewhere = true
	}
	if elsewhere {
		return "", &tools.Error{
			Kind: tools.Denied, DeniedBy: tools.DeniedByCapability,
			Message: "the command was judged for another directory than " + cmd.Dir + "; nothing was run",
		}
	}
	return cmd.Text, nil
}
