package v1

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// TestExplanation holds what a card says besides the options: the command and its
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

// A question of a subagent says whose it is: in the title, in a line of its own, and in
// the options that are stored. The command stands there as it runs (R73, O1).
func TestPermissionCall_OfSubagent(t *testing.T) {
	req := tools.PermissionRequest{
		CallID: "call_1", Name: "bash", Agents: []string{"explore", "fix `x`\u202e"}, Reason: "because", Remember: "commands like make", Project: true,
		Ready: transcript.ToolReady{
			CallID: "call_1", Args: json.RawMessage(`{"cmd":"make -j2","cwd":"/w"}`), Card: kinds.Card{Kind: kinds.Execute, Title: "make -j2"},
		},
	}
	tr := newTranslator(&recorder{t: t, start: time.Now()}, client{})
	tr.cards.calls["call_1"] = &callView{parent: "call_9"}
	call := tr.request(req)
	if want := "explore › fix `x`\\u{202e} › make -j2"; *call.Title != want {
		t.Errorf("title %q, want %q", *call.Title, want)
	}
	raw, err := json.Marshal(call)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"```sh\\nmake -j2\\n```", "Asked by: `explore \\u003e fix 'x'\\\\u{202e}`\\n\\nAsked because: `because`", `"_meta":{"claudeCode":{"parentToolUseId":"call_9"}}`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the call lacks %s:\n%s", want, raw)
		}
	}
	var names []string
	for _, o := range (traits{optionNames: true}).options(req) {
		names = append(names, o.Name)
	}
	want := []string{
		"Allow once", "Allow for fix `x`\\u{202e} in this session: commands like make", "Reject", "Reject this for fix `x`\\u{202e} in the session",
		"Allow for all agents in this project: commands like make",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	req.Agents = nil
	if call := newTranslator(nil, client{}).request(req); *call.Title != "make -j2" || call.Meta != nil || strings.Contains(explanation(req), "Asked by") {
		t.Errorf("that of the main agent: %+v", call)
	}
}

// The question of a subagent is linked to the call that spawned it.
func TestAsker_LinksToParent(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, _ *recorder) {
		delegate(tr.Emit, "call_9", false, "explore")
		startBash(within(tr, "call_9"))
		for call, want := range map[string]map[string]any{"call_1": {"claudeCode": parentMeta("call_9")}, "call_9": nil} {
			if diff := cmp.Diff(want, tr.request(tools.PermissionRequest{CallID: call}).Meta); diff != "" {
				t.Errorf("the link of %s (-want +got):\n%s", call, diff)
			}
		}
	})
}
