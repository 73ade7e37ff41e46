package acptest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
)

// begin opens a session of a client that offers nothing.
const begin = `
> {"id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
< {"id":1,"result":{"protocolVersion":1}}
> {"id":2,"method":"session/new","params":{"cwd":"/home/p","mcpServers":[]}}
< {"id":2,"result":{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask"}]}}}
`

const prompt = `> {"id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
`

const answer = `
< {"id":3,"result":{"stopReason":"end_turn"}}`

const (
	cancel = `> {"method":"session/cancel","params":{"sessionId":"s"}}
`
	cancelled = `< {"id":3,"result":{"stopReason":"cancelled"}}`
)

const (
	modeAsk  = `"sessionUpdate":"current_mode_update","currentModeId":"ask"`
	modeCode = `"sessionUpdate":"current_mode_update","currentModeId":"code"`
)

// later has lines come that many seconds after the first line.
func later(seconds float64, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&b, "\n@%g %s\n", seconds, line)
		}
	}
	return b.String()
}

const opened = `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","name":"read","kind":"read","status":"pending"}}}
`

const completed = `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}
`

// born are the members of the first message of a subagent's call.
const born = `"title":"t","name":"read","kind":"read"`

// nested is an update of the call n of a subagent that the given call spawned.
func nested(kind, parent, members string) string {
	return update(`"sessionUpdate":"` + kind + `","toolCallId":"n","_meta":{"claudeCode":{"parentToolUseId":"` + parent + `"}},` + members)
}

// inBackground opens a call whose subagent outlives the turn.
const inBackground = `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","name":"task","kind":"other","rawInput":{"background":true}}}}
`

// update is a session/update with these members.
func update(members string) string {
	return `< {"method":"session/update","params":{"sessionId":"s","update":{` + members + `}}}` + "\n"
}

// lines reads a run: > to the agent, < from it, each with its time if there is one (later).
func lines(t *testing.T, text string) []acptest.Line {
	t.Helper()
	var all []acptest.Line
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var at time.Time
		if stamp, rest, ok := strings.Cut(line, " "); ok && stamp[0] == '@' {
			after, err := time.ParseDuration(stamp[1:] + "s")
			if err != nil {
				t.Fatal(err)
			}
			at, line = at.Add(time.Hour+after), rest
		}
		raw := `{"jsonrpc":"2.0",` + line[3:]
		m, err := acptest.Parse([]byte(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		all = append(all, acptest.Line{FromAgent: line[0] == '<', At: at, Raw: raw, Message: m})
	}
	return all
}

// TestCheck holds that the rules for every run can be broken.
func TestCheck(t *testing.T) {
	for _, tc := range []struct{ name, run, want string }{
		{"nothing wrong", begin + prompt + opened + completed + answer, ""},
		{"cancelled queue", begin + prompt + strings.Replace(prompt, `"id":3`, `"id":4`, 1) + answer + "\n" + update(`"sessionUpdate":"plan","entries":[]`) +
			`< {"id":4,"result":{"stopReason":"end_turn"}}`, ""},
		{"update before initialize", update(`"sessionUpdate":"plan"`), "before the answer to initialize"},
		{"update before session/new", strings.Split(begin, "> {\"id\":2")[0] + update(`"sessionUpdate":"available_commands_update"`), "does not know yet"},
		{"update after the answer", begin + prompt + answer + "\n" + update(`"sessionUpdate":"plan"`), "outside a turn"},
		{"mode outside a turn", begin + update(modeCode), ""},
		{"mode as it was", begin + update(modeAsk), "tells nothing new"},
		{"mode as it was told", begin + update(modeCode) + update(modeCode), "tells nothing new"},
		{"mode sent again after another", begin + update(modeCode) + update(modeAsk) + update(modeCode), ""},
		{"options that an answer has carried", begin + `> {"id":5,"method":"session/set_config_option","params":{"sessionId":"s"}}
			< {"id":5,"result":{"configOptions":[]}}
			` + update(`"sessionUpdate":"config_option_update","configOptions":[]`), "tells nothing new"},
		{"title and sandbox", begin + update(`"sessionUpdate":"session_info_update","title":"t"`) + update(`"sessionUpdate":"session_info_update","_meta":{"a":1}`), ""},
		{"title again", begin + strings.Repeat(update(`"sessionUpdate":"session_info_update","title":"t"`), 2), "tells nothing new"},
		{"chunk of nothing", begin + prompt + update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}`) + answer, "without text"},
		{"plan again", begin + prompt + strings.Repeat(update(`"sessionUpdate":"plan","entries":[]`), 2) + answer, "tells nothing new"},
		{"mode soon after a cancel", begin + prompt + cancel + later(1, cancelled) + later(1.5, update(modeCode)), "after an answer with cancelled"},
		{"mode long after a cancel", begin + prompt + cancel + later(1, cancelled) + later(3, update(modeCode)), ""},
		{"mode in the next turn", begin + prompt + cancel + later(1, cancelled) + later(1.1, prompt+update(modeCode)+answer), ""},
		{"mode that the client sets after a cancel", begin + prompt + cancel + later(1, cancelled) +
			later(1.1, `> {"id":5,"method":"session/set_mode","params":{"sessionId":"s"}}`+"\n"+update(modeCode)+`< {"id":5,"result":{}}`), ""},
		{"no answer", begin + prompt, "was never answered"},
		{"two answers", begin + prompt + answer + answer, "answered before"},
		{"answer to nothing", begin + `< {"id":9,"result":{}}`, "never asked"},
		{"unknown mode", strings.Replace(begin, `"currentModeId":"ask"`, `"currentModeId":"yolo"`, 1), "yolo is not among"},
		{"session id twice", begin + `> {"id":5,"method":"session/new","params":{}}
			< {"id":5,"result":{"sessionId":"s"}}`, "empty or taken"},
		{"call left open", begin + prompt + opened + answer, "while the call c was still pending"},
		{"call ended twice", begin + prompt + opened + completed + completed + answer, "which is completed"},
		{"call not opened", begin + prompt + completed + answer, "never opened"},
		{"call opened twice", begin + prompt + opened + opened + completed + answer, "empty or taken"},
		{"call without a title", begin + prompt + strings.Replace(opened, `"title":"t",`, "", 1) + completed + answer, "without title"},
		{"title again", begin + prompt + opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t"`) + completed + answer, "title sent again"},
		{"list again", begin + prompt + opened + strings.Repeat(update(`"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal"}]`), 2) +
			completed + answer, "content sent again"},
		{"update of nothing", begin + prompt + opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"c"`) + completed + answer, "says nothing"},
		{"relative location", begin + prompt + opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"a"}]`) + completed + answer, "not an absolute path"},
		{"line 0", begin + prompt + opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"/a","line":0}]`) + completed + answer, "line from 1"},
		{"relative diff", begin + prompt + opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"a"}]`) + completed + answer, "no absolute path"},
		{"file not offered", begin + `< {"id":0,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}`, "does not offer fs.readTextFile"},
		{"terminal not offered", begin + `< {"id":0,"method":"terminal/create","params":{"sessionId":"s"}}`, "does not offer terminal"},
		{"terminal offered", strings.Replace(begin, `"clientCapabilities":{}`, `"clientCapabilities":{"terminal":true}`, 1) +
			`< {"id":0,"method":"terminal/create","params":{"sessionId":"s"}}`, ""},
		{"notice not offered", begin + prompt + update(`"sessionUpdate":"notice"`) + answer, "does not offer session.notices"},
		{"output not offered", begin + prompt + opened + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{}}`) + completed + answer, "does not offer it"},
		{"permission for no call", begin + prompt + `< {"id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}` + answer, "which is not open"},
		{"two options of a kind", begin + prompt + opened +
			`< {"id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"kind":"allow_once"},{"kind":"allow_once"},{"kind":"reject_once"}]}}
			` + completed + answer, "two options of the kind"},
		{"boolean not offered", begin + update(`"sessionUpdate":"config_option_update","configOptions":[{"id":"o","type":"boolean","currentValue":true}]`), "is boolean"},
		{"value not among options", begin + update(`"sessionUpdate":"config_option_update","configOptions":[{"id":"o","type":"select","currentValue":"x","options":[{"value":"y"}]}]`), "not among its options"},
		{"value in a group", begin + update(`"sessionUpdate":"config_option_update","configOptions":[{"id":"o","type":"select","currentValue":"x","options":[{"group":"g","options":[{"value":"x"}]}]}]`), ""},
		{"call of a subagent", begin + prompt + opened + nested("tool_call", "c", born) + nested("tool_call_update", "c", `"status":"completed"`) + completed + answer, ""},
		{"update without the parent", begin + prompt + opened + nested("tool_call", "c", born) + update(`"sessionUpdate":"tool_call_update","toolCallId":"n","status":"completed"`) + completed + answer, `the parent "c", then ""`},
		{"parent that is no call", begin + prompt + nested("tool_call", "x", born) + nested("tool_call_update", "x", `"status":"completed"`) + answer, "the parent x, which was never opened"},
		{"call that ends after its parent", begin + prompt + opened + nested("tool_call", "c", born) + completed + nested("tool_call_update", "c", `"status":"completed"`) + answer, "before the call n below it"},
		{"call that begins after its parent", begin + prompt + opened + completed + nested("tool_call", "c", born) + nested("tool_call_update", "c", `"status":"completed"`) + answer, "begins below the call c"},
		{"cancel that ends the background", begin + prompt + inBackground + cancel + completed + cancelled, ""},
		{"cancel that leaves the background", begin + prompt + inBackground + cancel + cancelled + "\n" + completed, "while the call c was still"},
		{"background that ends twice", begin + prompt + inBackground + answer + "\n" + completed + completed, "which is completed"},
		{"update of the parent alone", begin + prompt + opened + nested("tool_call", "c", born) + nested("tool_call_update", "c", `"toolCallId":"n"`) + nested("tool_call_update", "c", `"status":"completed"`) + completed + answer, "says nothing"},
		{"subagent in the background", begin + prompt + inBackground + answer + "\n" + nested("tool_call", "c", born) + nested("tool_call_update", "c", `"status":"completed"`) + completed + update(`"sessionUpdate":"agent_message_chunk","content":{}`), ""},
		{"background when the input ends", begin + prompt + inBackground + answer, ""},
		{"its call is left open", begin + prompt + inBackground + answer + "\n" + `> {"id":7,"method":"session/close","params":{"sessionId":"s"}}
			< {"id":7,"result":{}}`, "the call c was left pending"},
		{"message that no subagent explains", begin + prompt + opened + completed + answer + "\n" + update(`"sessionUpdate":"agent_message_chunk","content":{}`), "outside a turn"},
		{"draft not offered", begin + prompt + update(`"sessionUpdate":"subagent_update","sessionId":"child"`) + answer, "does not offer subagents"},
		{"update of a subagent's session", strings.Replace(begin, `"clientCapabilities":{}`, `"clientCapabilities":{"subagents":{}}`, 1) + prompt + update(`"sessionUpdate":"subagent_update","sessionId":"child"`) +
			strings.ReplaceAll(update(`"sessionUpdate":"plan","entries":[]`), `"sessionId":"s"`, `"sessionId":"child"`) + answer, ""},
		{"update of a closed session", begin + `> {"id":7,"method":"session/close","params":{"sessionId":"s"}}
			< {"id":7,"result":{}}
			` + update(`"sessionUpdate":"current_mode_update"`), "closed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			problems := strings.Join(acptest.Check(lines(t, tc.run), true), "\n")
			if tc.want == "" && problems != "" || !strings.Contains(problems, tc.want) {
				t.Errorf("got %q, want it to contain %q", problems, tc.want)
			}
		})
	}
}
