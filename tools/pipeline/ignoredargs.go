package pipeline

import (
	"strings"

	"acp-agent/transcript"
)

// noteIgnoredArgs tells the model which of its arguments had no effect, once in a session for each
// argument of a tool. The card shows the call as it ran, so it does not need the note.
func (e *ending) noteIgnoredArgs(end *transcript.ToolFinished) {
	var fresh []string
	for _, arg := range e.ignoredArgs {
		if _, known := e.pipeline.notices.ignoredArgs.LoadOrStore(e.Tool+" "+arg, true); !known {
			fresh = append(fresh, arg)
		}
	}
	if len(fresh) == 0 {
		return
	}
	if end.Shown == "" && end.Result.Error != nil {
		end.Shown = end.Text
	}
	end.Text += "\n\n[left out of the call, without effect: " + strings.Join(fresh, "; ") + "]"
}
