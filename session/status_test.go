package session

import (
	"context"
	"strings"
	"testing"

	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Each case is one state of what /status reports; what it does not mention is as in a new session.
func TestStatusText(t *testing.T) {
	const used = "- Used so far: 0 tokens in, 0 cached, 0 out, 0 reasoning\n"
	const inAsk = "- Model: `script`\n- Mode: ask\n- Directory: `/work`\n- Sandbox: none\n"
	for _, tt := range []struct {
		name     string
		kind     sandbox.Kind
		mode     permissions.Mode
		thought  string
		server   string
		roots    []string
		used     transcript.UsageChanged
		tokens   transcript.Usage
		standing []transcript.Notice
		want     string
	}{
		{name: "a new session", want: inAsk + used},
		{
			name: "a sandbox and another mode", kind: sandbox.Bubblewrap, mode: permissions.ModePlan,
			want: "- Model: `script`\n- Mode: plan\n- Directory: `/work`\n- Sandbox: bubblewrap, network off unless granted\n" + used,
		},
		{
			name: "a thought level and a server", thought: "high", server: "https://models.example (key from MODEL_KEY)",
			want: "- Model: `script`, thinking high\n- Server: https://models.example (key from MODEL_KEY)\n- Mode: ask\n- Directory: `/work`\n- Sandbox: none\n" + used,
		},
		{
			name: "more directories", roots: []string{"/docs", "/lib"},
			want: "- Model: `script`\n- Mode: ask\n- Directory: `/work`\n- Also: `/docs`\n- Also: `/lib`\n- Sandbox: none\n" + used,
		},
		{
			name: "a known window", used: transcript.UsageChanged{Used: 500, Size: 1000}, tokens: transcript.Usage{Input: 400, CacheRead: 90, Output: 8, Reasoning: 2},
			want: inAsk + "- Context: 500 of 1000 tokens\n- Used so far: 400 tokens in, 90 cached, 8 out, 2 reasoning\n",
		},
		{
			name: "an unknown window", used: transcript.UsageChanged{Used: 500},
			want: inAsk + "- Context: 500 tokens; the window of this model is not known, set `model.window` in the configuration\n" + used,
		},
		{
			name: "notices that hold", standing: []transcript.Notice{{Title: "Configuration", Text: "`x` is\nunknown"}, {Title: "Agents", Text: "none"}},
			want: inAsk + used + "- Configuration: `'x' is unknown`\n- Agents: `none`\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newTestChoices(t, tt.mode, tt.kind)
			c.models.setThought(tt.thought)
			backend := c.models.server()
			backend.Server = tt.server
			c.models.setServer(backend)
			spent := &account{context: tt.used}
			spent.spent.tokens = tt.tokens
			at := tools.Session{Env: tools.Env{Place: kinds.Place{Cwd: "/work"}}, Roots: append([]string{"/work"}, tt.roots...)}
			if got := statusText(c, spent, at, tt.standing); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// Before the trial of the sandbox has ended /status does not wait for it.
func TestStatusText_SandboxNotKnown(t *testing.T) {
	c, _ := newTestChoices(t, "", "")
	c.modes.sandbox = sandbox.NewProbe(func(context.Context) sandbox.Report { return sandbox.Report{} })
	text := statusText(c, &account{}, tools.Session{Env: tools.Env{Place: kinds.Place{Cwd: "/work"}}, Roots: []string{"/work"}}, nil)
	if want := "- Sandbox: not known yet\n"; !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant a line %q", text, want)
	}
}
