package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/session"
	"acp-agent/transcript"
)

// R158: the slash commands are sent when they differ from what the editor has, and only
// then, whatever event says that they may have changed.
func TestCommands_SentWhenTheyChange(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		known := []session.Command{{Name: "help", Description: "Helps."}}
		view := newFakeView()
		tr.state.session = view
		view.commands = func() []session.Command { return known }
		const help = `{"name":"help","description":"Helps."}`
		for _, step := range []struct {
			name string
			now  []session.Command
			want string
		}{
			{"the first time", known, help},
			{"the same", known, ""},
			{"one more", append(known, session.Command{Name: "mcp:s:p", Description: "A prompt.", Hint: "<a> [b]"}), help + `,{"name":"mcp:s:p","description":"A prompt.","input":{"hint":"\u003ca\u003e [b]"}}`},
			{"another hint", append(known, session.Command{Name: "mcp:s:p", Description: "A prompt.", Hint: "<a>"}), help + `,{"name":"mcp:s:p","description":"A prompt.","input":{"hint":"\u003ca\u003e"}}`},
			{"one fewer", known, help},
		} {
			known = step.now
			tr.Emit(transcript.CommandsChanged{})
			var want []string
			if step.want != "" {
				want = []string{`{"sessionUpdate":"available_commands_update","availableCommands":[` + step.want + `]}`}
			}
			var got []string
			for _, update := range r.take() {
				got = append(got, update.json)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
	})
}
