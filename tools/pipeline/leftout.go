package pipeline

import (
	"strings"

	"acp-agent/transcript"
)

// noteLeftOut tells the model which of its arguments had no effect, once in a session for each
// argument of a tool. The card shows what ran, so it needs no such note.
func (e *ending) noteLeftOut(end *transcript.ToolFinished) {
	var fresh []string
	for _, one := range e.leftOut {
		if _, known := e.pipeline.notices.leftOut.LoadOrStore(e.Tool+" "+one, true); !known {
			fresh = append(fresh, one)
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
