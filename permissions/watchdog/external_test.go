package watchdog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
)

func answering(output string, err error) watchdog.External {
	return watchdog.External{
		Name: "guard", Timeout: time.Second,
		Run: func(context.Context, watchdog.Call, []byte) ([]byte, error) { return []byte(output), err },
	}
}

func TestExternal_Answers(t *testing.T) {
	tests := []struct {
		name, output string
		want         capability.Action
		reason       string // of the decision, or of the error that denies
		fails        bool
	}{
		{"allow", `{"decision":"allow","reason":"fine"}`, capability.Allow, "", false},
		{"deny", ` {"decision": "deny", "reason": "no"} ` + "\n", capability.Deny, "watchdog guard: no", false},
		{"ask", `{"reason":"look","decision":"ask","more":{"a":[1]}}`, capability.Ask, "watchdog guard: look", false},
		{"no reason", `{"decision":"deny"}`, capability.Deny, "watchdog guard: no reason given", false},
		{"a reason for terminals", `{"decision":"deny","reason":"a\u001b[31m\n\tb"}`, capability.Deny, "watchdog guard: a[31m b", false},
		{"a long reason", `{"decision":"deny","reason":"` + strings.Repeat("x", 2000) + `"}`, capability.Deny, " …", false},
		{"nothing", "", 0, "no JSON object", true},
		{"a list", `["allow"]`, 0, "no JSON object", true},
		{"cut", `{"decision":"allow"`, 0, "no JSON object", true},
		{"two", `{"decision":"allow"}{"decision":"deny"}`, 0, "more than one", true},
		{"text behind", `{"decision":"allow"} ok`, 0, "more than one", true},
		{"twice", `{"decision":"deny","decision":"allow"}`, 0, "twice", true},
		{"twice in other letters", `{"decision":"deny","\u0064ecision":"allow"}`, 0, "twice", true},
		{"another case", `{"Decision":"allow"}`, 0, `without a "decision"`, true},
		{"null", `{"decision":null}`, 0, "none of", true},
		{"a number", `{"decision":1}`, 0, `without a "decision"`, true},
		{"unknown", `{"decision":"ALLOW"}`, 0, "none of", true},
		{"a reason that is no text", `{"decision":"allow","reason":1}`, 0, "no text", true},
		{"too long", `{"decision":"allow"}` + strings.Repeat(" ", watchdog.MaxAnswer), 0, "more than", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := answering(test.output, nil).Judge(t.Context(), watchdog.Call{})
			text := d.Reason
			if err != nil {
				text = err.Error()
			}
			if (err != nil) != test.fails || d.Action != test.want || !strings.Contains(text, test.reason) {
				t.Errorf("%v %q, %v", d.Action, d.Reason, err)
			}
			if len(text) > 1000 {
				t.Errorf("%d bytes of reason", len(text))
			}
		})
	}
}

// An answer of a program that failed does not count.
func TestExternal_FailedProgram(t *testing.T) {
	_, err := answering(`{"decision":"allow"}`, errors.New("exit code 1")).Judge(t.Context(), watchdog.Call{})
	if err == nil || !strings.Contains(err.Error(), "guard") || !strings.Contains(err.Error(), "exit code 1") {
		t.Errorf("%v", err)
	}
}

func TestExternal_Late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := watchdog.External{Name: "guard", Timeout: time.Minute, Run: func(ctx context.Context, _ watchdog.Call, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return []byte(`{"decision":"allow"}`), nil
		}}
		began := time.Now()
		if _, err := slow.Judge(t.Context(), watchdog.Call{}); err == nil || !strings.Contains(err.Error(), "did not answer within 1m0s") {
			t.Errorf("late: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := slow.Judge(ctx, watchdog.Call{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if took := time.Since(began); took != time.Minute+time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestExternal_Question(t *testing.T) {
	call := watchdog.Call{
		SessionID: "s", CallID: "c", Tool: "read", Args: json.RawMessage(`{"path":"/w/a"}`), Agent: "main/explore",
		IsSubagent: true, Path: []string{"s", "a"},
		Cwd: "/w", Roots: []string{"/w"}, Mode: "ask", Scratch: "/not/told", Capabilities: []string{"not told"},
	}
	got := ""
	e := answering("", nil)
	e.Run = func(_ context.Context, _ watchdog.Call, input []byte) ([]byte, error) {
		got = string(input)
		return []byte(`{"decision":"allow"}`), nil
	}
	if _, err := e.Judge(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	const want = `{"session_id":"s","call_id":"c","tool":"read","args":{"path":"/w/a"},"agent":"main/explore","is_subagent":true,"path":["s","a"],"cwd":"/w","roots":["/w"],"mode":"ask"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The strictest of several counts, and one that fails fails them all.
func TestAll(t *testing.T) {
	allow, ask, deny := answering(`{"decision":"allow"}`, nil), answering(`{"decision":"ask"}`, nil), answering(`{"decision":"deny"}`, nil)
	failed := answering("", nil)
	tests := []struct {
		name  string
		dogs  watchdog.All
		want  capability.Action
		fails bool
	}{
		{"none", nil, capability.Allow, false},
		{"allow", watchdog.All{allow, allow}, capability.Allow, false},
		{"ask first", watchdog.All{ask, allow}, capability.Ask, false},
		{"ask last", watchdog.All{allow, ask}, capability.Ask, false},
		{"deny among asks", watchdog.All{ask, deny, ask}, capability.Deny, false},
		{"one fails", watchdog.All{ask, failed, allow}, 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := test.dogs.Judge(t.Context(), watchdog.Call{})
			if (err != nil) != test.fails || d.Action != test.want {
				t.Errorf("%v, %v", d, err)
			}
		})
	}
}

func FuzzExternal(f *testing.F) {
	for _, seed := range []string{`{"decision":"allow"}`, `{"decision":"deny","reason":"x"}`, `{"decision":"deny","decision":"allow"}`, `[`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		d, err := answering(string(output), nil).Judge(t.Context(), watchdog.Call{})
		if err != nil {
			if d.Action != (permissions.Decision{}).Action {
				t.Errorf("an error with the decision %v", d.Action)
			}
			return
		}
		var loose map[string]any
		if json.Unmarshal(output, &loose) != nil {
			t.Errorf("%v for what is no JSON: %q", d.Action, output)
		}
		if d.Action == capability.Allow && loose["decision"] != "allow" {
			t.Errorf("allow for %q", output)
		}
	})
}
