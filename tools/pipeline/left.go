package pipeline

import (
	"strings"

	"acp-agent/transcript"
)

// noteLeftOut tells the model what of its arguments was left out, once in a session for
// each argument of a tool. The card shows what ran and needs no such words.
func (e *ending) noteLeftOut(end *transcript.ToolFinished) {
	var fresh []string
	for _, one := range e.left {
		if _, told := e.pipeline.notices.left.LoadOrStore(e.Tool+" "+one, true); !told {
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
