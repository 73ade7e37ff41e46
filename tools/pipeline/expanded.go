package pipeline

import (
	"path/filepath"

	"acp-agent/permissions/command"
	"acp-agent/tools"
)

// judgedText is a command that was judged with what the shell would expand in it written
// out. That text runs in its place, so that what runs is what was judged: a file that is
// made in between matches no pattern any more (E6).
type judgedText struct {
	text, dir, run string
}

// bindText notes what runs in the place of a command, and the variables that it runs with.
func (r *reach) bindText(resource tools.Resource, v command.Verdict) {
	if v.Run == "" {
		return
	}
	r.texts = append(r.texts, judgedText{resource.Value, filepath.Clean(resource.Dir), v.Run})
	r.settings = append(r.settings, v.Settings...)
}

// judgedAs returns the text that runs for a command. One that was judged for another
// directory is refused, for its patterns would mean other files there.
func (r *callRuntime) judgedAs(cmd tools.ShellCommand) (string, error) {
	text, known := cmd.Text, true
	for _, judged := range r.texts {
		if judged.text != cmd.Text {
			continue
		}
		if judged.dir == filepath.Clean(cmd.Dir) {
			return judged.run, nil
		}
		known = false
	}
	if !known {
		return "", &tools.Error{
			Kind: tools.Denied, DeniedBy: tools.DeniedByCapability,
			Message: "the command was judged for another directory than " + cmd.Dir + "; nothing was run",
		}
	}
	return text, nil
}
