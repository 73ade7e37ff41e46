package v1

import (
	"encoding/json"
	"strings"
	"testing"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// TestExplanation holds what a card says beside the options: the command and its
// directory, as it was written when that differs, why it is asked, and what of "always"
// the option itself does not say.
func TestExplanation(t *testing.T) {
	card := kinds.Card{Kind: kinds.Execute}
	args := json.RawMessage(`{"cmd":"rm -rf build | tee log","cwd":"/w/sub"}`)
	long := strings.Repeat("commands like go test ./a/b/c, ", 10)
	tests := []struct {
		name, input, remember, no string
		says, silent              []string
	}{
		{
			"as written", `{"cmd":"cd sub && rm -rf build | tee log"}`, "", "it is asked about each time",
			[]string{"```sh\nrm -rf build | tee log\n```", "in `/w/sub`, written as `cd sub && rm -rf build | tee log`", "Asked because: `because`", "“Always” is not offered: `it is asked about each time`"},
			nil,
		},
		{"the same", `{"cmd":"rm -rf build | tee log"}`, "", "", []string{"in `/w/sub`"}, []string{"written as", "Always"}},
		{"an option says it", `{}`, "commands like x", "", nil, []string{"Always"}},
		{"too long for an option", `{}`, long, "", []string{"“Always” would allow, for this session: `" + strings.TrimSpace(long) + "`"}, nil},
		{"no JSON", `{`, "", "", []string{"in `/w/sub`"}, []string{"written as"}},
		{"a name that poses as text", `{"cmd":"x` + "`\\n\\nAsked because: `" + `fine"}`, "", "", []string{"written as `x' Asked because: 'fine`"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := explanation(tools.PermissionRequest{
				Ready: transcript.ToolReady{Card: card, Args: args, Input: tt.input}, Reason: "because", Remember: tt.remember, NoAlways: tt.no,
			})
			for _, text := range tt.says {
				if !strings.Contains(got, text) {
					t.Errorf("does not say %q:\n%s", text, got)
				}
			}
			for _, text := range tt.silent {
				if strings.Contains(got, text) {
					t.Errorf("says %q:\n%s", text, got)
				}
			}
		})
	}
}
