package protocol

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// TestRobust_CancelBehindPrompt is R153: a prompt and its cancel written in one
// write end in cancelled, 1000 times of 1000, and a cancel with nothing running
// does not harm the prompt after it. The short form has 200 pairs.
func TestRobust_CancelBehindPrompt(t *testing.T) {
	t.Parallel()
	times := testreq.Rounds(200, 1000)
	agent := acptest.Start(t, acptest.Options{
		Model: `{"when": "wait", "say": "Begun", "wait": "for the cancel"}` + "\n" + `{"when": "hello", "say": "Here."}`, Unjudged: true,
	})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	counts := map[any]int{}
	for range times {
		turn := session.PreparePrompt("wait")
		agent.Write(turn.Line(), session.CancelLine())
		counts[turn.Result().Get("result.stopReason")]++
	}
	if counts["cancelled"] != times {
		t.Errorf("%d pairs of prompt and cancel ended in %v, want all in cancelled", times, counts)
	}
	for range 20 {
		turn := session.PreparePrompt("hello")
		agent.Write(session.CancelLine(), turn.Line())
		turn.Ends("end_turn")
	}
}

// cancelWithin is how soon a cancel must be answered, in every state of a turn.
const cancelWithin = 200 * time.Millisecond

// TestRobust_CancelPrompt is R153: a cancel is answered within 200 ms in every
// state of a turn, and the next prompt works.
func TestRobust_CancelPrompt(t *testing.T) {
	const next = "\n" + `{"when": "next", "say": "Here."}`
	update := func(kind string, members ...string) func(*acptest.Session) {
		return func(s *acptest.Session) { s.Expect(kind, acptest.Update(kind, members...)) }
	}
	for _, tc := range []struct {
		name, model  string
		capabilities string
		unix         bool
		keepOpen     bool // permissions are never answered
		reached      func(*acptest.Session)
	}{
		{name: "silent model", model: `{"wait": "for ever"}`, reached: update("session_info_update")},
		{name: "streaming text", model: `{"say": "` + long(2000) + `", "chunk": 1, "pause_ms": 5}`, reached: update("agent_message_chunk")},
		{name: "streaming thoughts", model: `{"think": "` + long(2000) + `", "chunk": 1, "pause_ms": 5}`, reached: update("agent_thought_chunk")},
		{
			name: "streaming arguments", reached: update("tool_call"),
			model: `{"call": [{"name": "write", "args": {"path": "a", "content": "` + long(2000) + `"}}], "chunk": 1, "pause_ms": 5}`,
		},
		{
			name: "open permission", keepOpen: true, model: `{"call": [{"name": "write", "args": {"path": "a", "content": "x"}}]}`,
			reached: func(s *acptest.Session) { s.NextPermission() },
		},
		{
			name: "command", unix: true, model: `{"call": [{"name": "bash", "args": {"cmd": "echo begun; sleep 300"}}]}`,
			reached: update("tool_call_update", "content", "begun"),
		},
		{
			name: "command that ignores signals", unix: true, reached: update("tool_call_update", "content", "begun"),
			model: `{"call": [{"name": "bash", "args": {"cmd": "trap '' TERM INT HUP; echo begun; sleep 300; sleep 300"}}]}`,
		},
		{
			name: "flooding command", unix: true, reached: update("tool_call_update", "content", "yes"),
			model: `{"call": [{"name": "bash", "args": {"cmd": "yes yes"}}]}`,
		},
		{
			name: "client terminal", unix: true, capabilities: `{"terminal":true}`, reached: update("tool_call_update", "content", "terminal"),
			model: `{"call": [{"name": "bash", "args": {"cmd": "sleep 300"}}]}`,
		},
		{
			name: "waiting for the next try", reached: update("agent_message_chunk", "content.text", "Trying again"),
			model: `{"error": {"status": 503, "message": "overloaded", "retry_after_ms": 30000}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.unix && runtime.GOOS == "windows" {
				t.Skip("the command is for a POSIX shell")
			}
			options := acptest.Options{Model: strings.Replace(tc.model, "{", `{"when": "go", `, 1) + next, Terminals: &acptest.Terminals{}}
			if !tc.keepOpen {
				options.Permission = acptest.Answer("allow_once")
			}
			agent := acptest.Start(t, options)
			agent.Initialize(tc.capabilities)
			session := agent.NewSession(t.TempDir())
			cancelInTime(t, session, tc.reached)
			session.Prompt("next").Ends("end_turn")
			if tc.capabilities != "" {
				session.Expect("the release of the terminal", func(m *acptest.Message) bool { return m.Method == "terminal/release" })
			}
			if text := session.Text(); !strings.HasSuffix(text, "Here.") {
				t.Errorf("the next turn did not come through: %.200q", text)
			}
		})
	}
}

// cancelInTime brings a turn to a state, cancels it there, and insists that the
// answer comes in time, at least at one of three tries: this machine may have
// something else to do.
func cancelInTime(t *testing.T, session *acptest.Session, reached func(*acptest.Session)) {
	t.Helper()
	var took time.Duration
	for range 3 {
		turn := session.Prompt("go")
		reached(session)
		sent := time.Now()
		session.Cancel()
		turn.Ends("cancelled")
		if took = turn.AnsweredAt().Sub(sent); took <= acptest.Slack(cancelWithin) {
			return
		}
	}
	t.Errorf("the cancel was answered after %s, want at most %s", took, acptest.Slack(cancelWithin))
}

// long is text of n bytes.
func long(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = "abcdefghij klmnopqrst"[i%21]
	}
	return string(text)
}

// TestRobust_CancelAnyTime is R153 at arbitrary moments: a cancel
// at growing distances after the prompt ends each turn in cancelled, or in
// end_turn if it came too late, and never in anything else. The short form tries every third distance.
func TestRobust_CancelAnyTime(t *testing.T) {
	t.Parallel()
	model := `{"when": "go", "say": "Begun.", "call": [{"name": "read", "args": {"path": "a.txt"}}, {"name": "glob", "args": {"filePattern": "**"}}], "chunk": 2, "pause_ms": 1}
{"call": [{"name": "write", "args": {"path": "b.txt", "content": "x"}}]}
{"say": "Done."}`
	agent := acptest.Start(t, acptest.Options{Model: model, Permission: acptest.Answer("allow_once")})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	counts := map[string]int{}
	for i := 0; i < 60; i += testreq.Rounds(3, 1) {
		turn := session.Prompt("go")
		time.Sleep(time.Duration(i) * time.Millisecond) // the distance is the point
		session.Cancel()
		reason := fmt.Sprint(turn.Result().Get("result.stopReason"))
		counts[reason]++
		if reason != "cancelled" && reason != "end_turn" {
			t.Fatalf("the turn ended with %s", reason)
		}
	}
	if counts["cancelled"] == 0 {
		t.Errorf("no turn was cancelled: %v", counts)
	}
}
