package acptest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/acptest"
)

func TestTranscript(t *testing.T) {
	const id = "0123456789abcdefghijklmnop"
	chunk := func(text string) string {
		return update(`"sessionUpdate":"agent_message_chunk","messageId":"msg_` + id + `","content":{"type":"text","text":"` + text + `"}`)
	}
	output := func(text string) string {
		return update(`"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{"terminal_id":"c","data":"` + text + `"}}`)
	}
	options := func(mode string) string {
		return update(`"sessionUpdate":"config_option_update","configOptions":[{"id":"mode","currentValue":"` + mode + `"}]`)
	}
	run := begin + options("ask") + prompt + chunk("Hel") + options("ask") + chunk("lo <you>") +
		update(`"sessionUpdate":"session_info_update","title":"/home/p/a in /home/h, /home/x","updatedAt":"2026-01-02T03:04:05Z"`) +
		update(`"sessionUpdate":"usage_update","used":7,"size":9`) +
		opened + output("a") + output("b") +
		update(`"sessionUpdate":"tool_call_update","toolCallId":"c","rawOutput":{"metadata":{"duration_ms":5,"x":1}},"status":"completed"`) +
		update(`"sessionUpdate":"current_mode_update","currentModeId":"code"`) + options("code") + answer
	want := `-> initialize {"clientCapabilities":{},"protocolVersion":1}
<- initialize: ok
-> session/new {"cwd":"$PROJECT","mcpServers":[]}
<- session/new: s
-> prompt []
<- agent_message_chunk $msg1 "Hello <you>"
<- session_info_update {"title":"$PROJECT/a in $HOME, $PROJECT/../x","updatedAt":"$time"}
<- usage_update
<- tool_call c {"kind":"read","name":"read","status":"pending","title":"t"}
<- output c "ab"
<- tool_call_update c {"rawOutput":{"metadata":{"x":1}},"status":"completed"}
<- current_mode_update {"currentModeId":"code"}
<- config_option_update {"mode":"code"}
<- prompt: end_turn
`
	got := acptest.Transcript(lines(t, run), acptest.Names{Project: "/home/p", Home: "/home/h"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

// TestTranscript_Several holds that with several sessions each line names its own.
func TestTranscript_Several(t *testing.T) {
	run := begin + `
> {"id":3,"method":"session/new","params":{"cwd":"/home/p","mcpServers":[]}}
< {"id":3,"result":{"sessionId":"t"}}
> {"id":4,"method":"session/prompt","params":{"sessionId":"t","prompt":[{"type":"text","text":"hi"}]}}
< {"id":4,"error":{"code":-32603,"message":"no"}}
`
	want := `-> initialize {"clientCapabilities":{},"protocolVersion":1}
<- initialize: ok
-> session/new {"cwd":"$PROJECT","mcpServers":[]}
<- session/new: s
-> session/new {"cwd":"$PROJECT","mcpServers":[]}
<- session/new: t
-> t prompt "hi"
<- prompt: error -32603 "no"
`
	got := acptest.Transcript(lines(t, run), acptest.Names{Project: "/home/p"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

// TestTranscript_Subagents holds that what links a call to its subagent is shown once, that
// live cards are left out, and that a subagent's own session is named.
func TestTranscript_Subagents(t *testing.T) {
	card := func(text string) string {
		return update(`"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"` + text + `"}}]`)
	}
	run := begin + prompt + opened + card("`explore` is running: 1 step, 3s") +
		nested("tool_call", "c", born) + card("`explore` is running: 2 steps, 4s") +
		nested("tool_call_update", "c", `"content":[{"type":"content","content":{"type":"text","text":"a"}}]`) +
		nested("tool_call_update", "c", `"status":"completed"`) +
		update(`"sessionUpdate":"subagent_update","sessionId":"child"`) +
		strings.ReplaceAll(update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hm"}`), `"sessionId":"s"`, `"sessionId":"child"`) +
		update(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"`+"`explore` is done: 2 steps, 12k tokens, cost 1.2e-05, 1m5s"+`"}}]`) + answer
	want := `-> initialize {"clientCapabilities":{},"protocolVersion":1}
<- initialize: ok
-> session/new {"cwd":"$PROJECT","mcpServers":[]}
<- session/new: s
-> prompt []
<- tool_call c {"kind":"read","name":"read","status":"pending","title":"t"}
<- tool_call n {"_meta":{"claudeCode":{"parentToolUseId":"c"}},"kind":"read","name":"read","title":"t"}
<- output n
<- tool_call_update n {"status":"completed"}
<- subagent_update {"sessionId":"child"}
<- child agent_message_chunk "hm"
<- tool_call_update c {"content":[{"content":{"text":"` + "`explore` is done: 2 steps, $tokens, cost 1.2e-05, $elapsed" + `","type":"text"},"type":"content"}],"status":"completed"}
<- prompt: end_turn
`
	got := acptest.Transcript(lines(t, run), acptest.Names{Project: "/home/p", Home: "/home/h"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}
