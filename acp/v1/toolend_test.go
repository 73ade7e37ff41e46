package v1

import (
	"encoding/json"
	"strings"
	"testing"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// The title of a command says how it ended, and so does the last line of a terminal of ours
// (R55: a failed command is a completed call all the same).
func TestEnding(t *testing.T) {
	failure := func(state transcript.State, kind string) transcript.ToolFinished {
		return transcript.ToolFinished{State: state, Text: "no", Result: transcript.Envelope{Type: transcript.Error, Error: &transcript.ErrorDetail{Kind: kind}}}
	}
	done := func(data string) transcript.ToolFinished {
		return transcript.ToolFinished{State: transcript.Done, Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(data)}}
	}
	tests := []struct {
		name string
		end  transcript.ToolFinished
		want string
	}{
		{"success", done(`{"exit_code":0}`), ""},
		{"exit code", done(`{"exit_code":3}`), "exit 3"},
		{"signal", done(`{"exit_code":137,"signal":"SIGKILL"}`), "killed by SIGKILL"},
		{"a signal that hides something", done(`{"signal":"a\nb"}`), "killed by a b"},
		{"several commands, all well", done(`{"ok":true}`), ""},
		{"several commands, one not", done(`{"ok":false}`), "failed"},
		{"no data", done(`"text"`), ""},
		{"time limit", failure(transcript.Failed, "timeout"), "timed out"},
		{"cancelled", failure(transcript.Cancelled, "cancelled"), "cancelled"},
		{"rejected", failure(transcript.Rejected, "denied"), ""},
		{"could not be started", failure(transcript.Failed, "backend"), ""},
	}
	panes := map[string]client{"text": {}, "our terminal": agentTerminals, "the editor's terminal": {terminals: true}}
	for _, test := range tests {
		if got := ending(test.end, kinds.Search); got != "" {
			t.Errorf("%s: a search %q", test.name, got)
		}
		for pane, c := range panes {
			t.Run(test.name+" in "+pane, func(t *testing.T) {
				inTurn(t, c, func(t *testing.T, tr *translator, r *recorder) {
					startBash(tr.Emit)
					if c.terminals {
						tr.Emit(transcript.ToolTerminal{CallID: "call_1", TerminalID: "term_7"})
					}
					tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "half a line"})
					r.take()
					test.end.CallID, test.end.Card = "call_1", kinds.Card{Kind: kinds.Execute, Title: "make"}
					tr.Emit(test.end)
					all := strings.Join(r.lines(), "\n")
					if title := `"title":"make (` + test.want + `)"`; strings.Contains(all, `"title"`) != (test.want != "") || test.want != "" && !strings.Contains(all, title) {
						t.Errorf("want the title %s in %s", title, all)
					}
					below := `"data":"\n[` + test.want + `]\n"`
					if shows := c.agentTerminals && test.want != ""; strings.Contains(all, below) != shows {
						t.Errorf("%s in the output is not %t: %s", below, shows, all)
					}
				})
			})
		}
	}
}

// The title of a subagent's command names the agent first, and then says how it ended.
func TestEnding_OfSubagent(t *testing.T) {
	inTurn(t, codeCompanion, func(t *testing.T, tr *translator, r *recorder) {
		delegate(tr.Emit, "call_0", false, "explore")
		below := within(tr, "call_0")
		startBash(below)
		r.take()
		endBash(below, transcript.Done, "", `{"exit_code":1}`)
		if got := strings.Join(r.lines(), "\n"); !strings.Contains(got, `"title":"explore › make (exit 1)"`) {
			t.Errorf("updates: %s", got)
		}
	})
}
