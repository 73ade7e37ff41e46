package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
)

// dryRunning is a watchdog that can say beforehand what it answers.
type dryRunning struct {
	d     permissions.Decision
	known bool
	err   error
	ran   int
}

func (f *dryRunning) Judge(context.Context, watchdog.Call) (permissions.Decision, error) {
	f.ran++
	return f.d, f.err
}

func (f *dryRunning) DryRun(context.Context, watchdog.Call) (permissions.Decision, bool, error) {
	return f.d, f.known, f.err
}

func TestExplain(t *testing.T) {
	deny := permissions.Rule{Permission: "bash", Pattern: "git push*", Action: capability.Deny, Source: "/u/config.jsonc:3:9"}
	tests := []struct {
		name, tool, args    string
		rule                *permissions.Rule
		dog                 watchdog.Watchdog
		verdict             capability.Action
		layer, part, reason string
		always, noAlways    string
	}{
		{name: "reading command", tool: "bash", args: `{"cmd":"ls -la"}`, verdict: capability.Allow, layer: "policy", part: "ls -la", reason: "only reads"},
		{name: "worst part", tool: "bash", args: `{"cmd":"ls; git push; pwd"}`, verdict: capability.Ask, layer: "policy", part: "git push", reason: "network", always: "git push"},
		{name: "denied part", tool: "bash", args: `{"cmd":"ls && rm -rf ~"}`, verdict: capability.Deny, layer: "policy", part: "rm -rf ~", reason: "home"},
		{name: "no always", tool: "bash", args: `{"cmd":"rm -rf build | tee log"}`, verdict: capability.Ask, layer: "policy", part: "rm -rf build", reason: "Potentially dangerous command", noAlways: "each time"},
		{name: "rule", tool: "bash", args: `{"cmd":"git push -f"}`, rule: &deny, verdict: capability.Deny, layer: "rules", part: "git push -f", reason: "git push*"},
		{name: "default row", tool: "write", args: `{"path":"a.txt","content":"x"}`, verdict: capability.Ask, layer: "rules", part: "a.txt", reason: "asks by default", always: "write of a.txt"},
		{name: "protected", tool: "write", args: `{"path":".vscode/tasks.json","content":"x"}`, verdict: capability.Ask, layer: "protected", part: "tasks.json", reason: "run code", noAlways: "each time"},
		{name: "secret", tool: "read", args: `{"path":".env"}`, verdict: capability.Deny, layer: "capability", part: ".env", reason: "secrets"},
		{name: "outside", tool: "read", args: `{"path":"/etc/hosts"}`, verdict: capability.Ask, layer: "capability", part: "/etc/hosts", reason: "outside", always: "reading in /etc"},
		{name: "write outside", tool: "write", args: `{"path":"/etc/hosts","content":"x"}`, verdict: capability.Deny, layer: "capability", part: "/etc/hosts", reason: "outside"},
		{name: "schema", tool: "write", args: `{"path":"a.txt"}`, verdict: capability.Deny, layer: "schema", reason: "content"},
		{name: "no tool", tool: "teleport", args: `{}`, verdict: capability.Deny, layer: "schema", reason: "teleport"},
		{name: "no JSON", tool: "read", args: `{`, verdict: capability.Deny, layer: "schema", reason: "JSON"},
		{name: "watchdog denies", tool: "bash", args: `{"cmd":"ls"}`, dog: &dryRunning{d: permissions.Decision{Action: capability.Deny, Reason: "not today"}, known: true}, verdict: capability.Deny, layer: "watchdog", reason: "not today"},
		{name: "watchdog asks", tool: "bash", args: `{"cmd":"ls"}`, dog: &dryRunning{d: permissions.Decision{Action: capability.Ask, Reason: "sure?"}, known: true}, verdict: capability.Ask, layer: "watchdog", reason: "sure?", noAlways: "watchdog"},
		{name: "watchdog fails", tool: "bash", args: `{"cmd":"ls"}`, dog: &dryRunning{err: errors.New("broken")}, verdict: capability.Deny, layer: "watchdog", reason: "broken"},
		{name: "watchdog cannot widen", tool: "bash", args: `{"cmd":"rm -rf /"}`, dog: &dryRunning{d: permissions.Decision{Action: capability.Allow}, known: true}, verdict: capability.Deny, layer: "policy", part: "rm -rf /", reason: "root"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, func(o *pipeline.Options) { o.Watchdog = tt.dog })
			if tt.rule != nil {
				s.policy.Remember(*tt.rule)
			}
			e := s.Explain(t.Context(), pipeline.Call{ID: "x", Name: tt.tool, Input: tt.args})
			if e.Action != tt.verdict || e.Layer != tt.layer || !strings.HasSuffix(e.Part, tt.part) || !strings.Contains(e.Reason, tt.reason) {
				t.Errorf("%v by %s for %q: %s", e.Action, e.Layer, e.Part, e.Reason)
			}
			if !strings.Contains(e.Remember, tt.always) || (tt.always == "") != (e.Remember == "") {
				t.Errorf("always would store %q, want %q", e.Remember, tt.always)
			}
			if !strings.Contains(e.NoAlways, tt.noAlways) || tt.noAlways != "" && e.Remember != "" {
				t.Errorf("no always because %q, want %q", e.NoAlways, tt.noAlways)
			}
			if dog, ok := tt.dog.(*dryRunning); ok && dog.ran > 0 {
				t.Error("the watchdog was run")
			}
			if tt.rule != nil && (e.Rule == nil || e.Rule.Source != deny.Source || e.Scope != permissions.Session) {
				t.Errorf("the rule is %+v in %v", e.Rule, e.Scope)
			}
		})
	}
}

// TestExplain_Limits denies what is too large or too deep to be judged, whatever it holds
// (C8).
func TestExplain_Limits(t *testing.T) {
	s := newStage(t, nil)
	for name, text := range map[string]string{
		"long": "ls " + strings.Repeat("a ", 40_000), "deep": strings.Repeat("( ", 200) + "ls" + strings.Repeat(" )", 200),
		"nested": strings.Repeat("if ls; then ", 60) + "ls" + strings.Repeat("; fi", 60),
	} {
		if e := s.Explain(t.Context(), pipeline.Call{Name: "bash", Input: fmt.Sprintf(`{"cmd":%q}`, text)}); e.Action != capability.Deny {
			t.Errorf("%s: %v by %s: %.100s", name, e.Action, e.Layer, e.Reason)
		}
	}
	many := strings.Repeat("ls; ", 3000) + "rm -rf /"
	if e := s.Explain(t.Context(), pipeline.Call{Name: "bash", Input: fmt.Sprintf(`{"cmd":%q}`, many)}); e.Action != capability.Deny || e.Part != "rm -rf /" {
		t.Errorf("the last of many parts: %v for %q", e.Action, e.Part)
	}
}

func TestExplain_WatchdogWithoutDryRun(t *testing.T) {
	nothing := permissions.Decision{Action: capability.Allow}
	dog := &dryRunning{d: nothing}
	for name, o := range map[string]watchdog.Watchdog{"cannot": &dryRunning{d: nothing}, "does not": struct{ watchdog.Watchdog }{dog}} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, func(options *pipeline.Options) { options.Watchdog = o })
			if e := s.Explain(t.Context(), pipeline.Call{Name: "bash", Input: `{"cmd":"ls"}`}); !e.Unasked || e.Action != capability.Allow {
				t.Errorf("unasked = %v, %v", e.Unasked, e.Action)
			}
		})
	}
	if dog.ran > 0 {
		t.Error("the watchdog was run")
	}
}

// TestExplain_IsWhatHappens holds Explain to Run: what it calls an allow runs without a
// question, what it calls an ask is asked, what it calls a deny is neither.
func TestExplain_IsWhatHappens(t *testing.T) {
	calls := []struct{ tool, args string }{
		{"bash", `{"cmd":"ls"}`},
		{"bash", `{"cmd":"touch x"}`},
		{"bash", `{"cmd":"cat .env"}`},
		{"bash", `{"cmd":"cat ../x"}`},
		{"bash", `{"cmd":"ls","cwd":"/"}`},
		{"read", `{"path":"a.txt"}`},
		{"read", `{"path":".env"}`},
		{"read", `{"path":"/etc/hosts"}`},
		{"write", `{"path":"a.txt","content":"y"}`},
		{"write", `{"path":"/x","content":"y"}`},
		{"glob", `{"filePattern":"*"}`},
		{"todo", `{}`},
		{"teleport", `{}`},
		{"web_fetch", `{"url":"https://example.com"}`},
		{"delete_file", `{"path":".envrc"}`},
		{"edit", `{"path":"a.txt","old_str":"x","new_str":"y"}`},
	}
	for _, call := range calls {
		t.Run(call.tool+call.args, func(t *testing.T) {
			s := newStage(t, nil)
			s.write(t, "a.txt", "x\n")
			s.write(t, ".envrc", "x\n")
			before := entries(t, s.dir)
			e := s.Explain(t.Context(), pipeline.Call{ID: "x", Name: call.tool, Input: call.args})
			if after := entries(t, s.dir); !slices.Equal(before, after) || len(s.asked) > 0 || len(s.events) > 0 || len(s.Active()) > 0 {
				t.Fatalf("explaining left %v, asked %d, emitted %d", after, len(s.asked), len(s.events))
			}
			end := s.call(t, call.tool, call.args)
			got := capability.Allow
			detail := end.Result.Error
			switch {
			case len(s.asked) > 0:
				got = capability.Ask
			case detail != nil && (detail.Kind == string(tools.Denied) || detail.Kind == string(tools.BadInput)):
				got = capability.Deny
			}
			if got != e.Action {
				t.Errorf("explained as %v by %s (%s), and was %v: %q", e.Action, e.Layer, e.Reason, got, end.Text)
			}
			if e.Action == capability.Ask && s.asked[0].Reason != e.Reason {
				t.Errorf("the card says %q, the explanation %q", s.asked[0].Reason, e.Reason)
			}
		})
	}
}

// TestExplain_Mode says of a call in a mode that changes nothing what would become of it.
func TestExplain_Mode(t *testing.T) {
	reading := pipeline.ModePolicy{Mode: "plan", ReadOnly: true, Gate: tools.Gate{IncludeTools: []string{"bash", "read", "glob"}}}
	dog := &dryRunning{d: permissions.Decision{Action: capability.Ask, Reason: "sure?"}, known: true}
	for _, tt := range []struct {
		name, tool, args string
		dog              watchdog.Watchdog
		want             capability.Action
		reason           string
	}{
		{"a command that reads", "bash", `{"cmd":"ls"}`, nil, capability.Allow, "only reads"},
		{"one that may write", "bash", `{"cmd":"touch x"}`, nil, capability.Deny, "mode plan"},
		{"one that may write, with a watchdog", "bash", `{"cmd":"touch x"}`, dog, capability.Deny, "mode plan"},
		{"a tool that is not there", "write", `{"path":"a","content":"x"}`, nil, capability.Deny, "mode plan"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, func(o *pipeline.Options) {
				sessionOf(o).modePolicy, o.Watchdog = func() pipeline.ModePolicy { return reading }, tt.dog
			})
			s.policy.Remember(permissions.Rule{Permission: "bash", Pattern: "touch x", Action: capability.Allow})
			e := s.Explain(t.Context(), pipeline.Call{ID: "x", Name: tt.tool, Input: tt.args})
			if e.Action != tt.want || !strings.Contains(e.Reason, tt.reason) || e.Remember != "" {
				t.Errorf("%v by %s: %s; always stores %q", e.Action, e.Layer, e.Reason, e.Remember)
			}
			if e.Action == capability.Deny && (e.Layer != permissions.LayerCapability || e.DeniedBy != tools.DeniedByMode) {
				t.Errorf("by %s, %s", e.Layer, e.DeniedBy)
			}
			end := s.call(t, tt.tool, tt.args)
			if denied := end.Result.Error != nil && end.Result.Error.DeniedBy == tools.DeniedByMode; denied != (tt.want == capability.Deny) {
				t.Errorf("it was %q: %s", end.State, end.Text)
			}
		})
	}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range list {
		names = append(names, entry.Name())
	}
	return names
}
