package acptest_test

import (
	"strings"
	"testing"

	"acp-agent/internal/acptest"
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

const opened = `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","name":"read","kind":"read","status":"pending"}}}
`

const completed = `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}
`

// update is a session/update with these members.
func update(members string) string {
	return `< {"method":"session/update","params":{"sessionId":"s","update":{` + members + `}}}` + "\n"
}

// lines reads a run: > to the agent, < from it.
func lines(t *testing.T, text string) []acptest.Line {
	t.Helper()
	var all []acptest.Line
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		raw := `{"jsonrpc":"2.0",` + line[3:]
		m, err := acptest.Parse([]byte(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		all = append(all, acptest.Line{FromAgent: line[0] == '<', Raw: raw, Message: m})
	}
	return all
}

// nested is a call below another, with these members more.
func nested(id, parent, more string) string {
	return update(`"sessionUpdate":"tool_call","toolCallId":"` + id + `","title":"x › t","name":"task","kind":"other","status":"pending"` + more + below(parent))
}

// changed is an update of a call below another.
func changed(id, parent, more string) string {
	return update(`"sessionUpdate":"tool_call_update","toolCallId":"` + id + `"` + more + below(parent))
}

func below(parent string) string {
	if parent == "" {
		return ""
	}
	return `,"_meta":{"claudeCode":{"parentToolUseId":"` + parent + `"}}`
}

const (
	background = `,"rawInput":{"background":true}`
	ended      = `,"status":"completed"`
	cancel     = `> {"method":"session/cancel","params":{"sessionId":"s"}}` + "\n"
	cancelled  = "\n" + `< {"id":3,"result":{"stopReason":"cancelled"}}` + "\n"
)

// TestCheck_Delegation holds the same of calls that delegate, and of those below them.
func TestCheck_Delegation(t *testing.T) {
	spawn := nested("c", "", background)
	for _, tc := range []struct{ name, run, want string }{
		{"nested calls end before the one above", begin + prompt + nested("c", "", "") + nested("d", "c", "") + changed("d", "c", ended) + changed("c", "", ended) + answer, ""},
		{"a nested call that is left", begin + prompt + nested("c", "", "") + nested("d", "c", "") + changed("c", "", ended) + changed("d", "c", ended) + answer, "before the call d below it"},
		{"below no call", begin + prompt + nested("d", "c", "") + changed("d", "c", ended) + answer, "not open"},
		{"below a call that has ended", begin + prompt + nested("c", "", "") + changed("c", "", ended) + nested("d", "c", "") + changed("d", "c", ended) + answer, "not open"},
		{"a parent that changes", begin + prompt + nested("c", "", "") + nested("d", "c", "") + changed("d", "", ended) + changed("c", "", ended) + answer, "an update of it says"},
		{"a nested update of nothing", begin + prompt + nested("c", "", "") + nested("d", "c", "") + changed("d", "c", "") + changed("d", "c", ended) + changed("c", "", ended) + answer, "says nothing"},
		{"in the background behind the turn", begin + prompt + spawn + answer + "\n" + nested("d", "c", "") + changed("d", "c", ended) + changed("c", "", ended) +
			update(`"sessionUpdate":"agent_message_chunk"`), ""},
		{"still in the background at the end", begin + prompt + spawn + nested("d", "c", "") + answer, ""},
		{"a word before anything has ended in the background", begin + prompt + spawn + answer + "\n" + update(`"sessionUpdate":"agent_message_chunk"`), "outside a turn"},
		{"ended twice in the background", begin + prompt + spawn + answer + "\n" + changed("c", "", ended) + changed("c", "", `,"status":"failed"`), "which is completed"},
		{"a cancel that ends all", begin + prompt + spawn + cancel + changed("c", "", `,"status":"failed"`) + cancelled, ""},
		{"a cancel that leaves the background", begin + prompt + spawn + cancel + cancelled, "while the call c was still"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			problems := strings.Join(acptest.Check(lines(t, tc.run), true), "\n")
			if tc.want == "" && problems != "" || !strings.Contains(problems, tc.want) {
				t.Errorf("got %q, want it to contain %q", problems, tc.want)
			}
		})
	}
}

// TestCheck holds that the rules for every run can be broken.
func TestCheck(t *testing.T) {
	for _, tc := range []struct{ name, run, want string }{
		{"nothing wrong", begin + prompt + opened + completed + answer, ""},
		{"cancelled queue", begin + prompt + strings.Replace(prompt, `"id":3`, `"id":4`, 1) + answer + "\n" + update(`"sessionUpdate":"plan","entries":[]`) +
			`< {"id":4,"result":{"stopReason":"end_turn"}}`, ""},
		{"update before initialize", update(`"sessionUpdate":"plan"`), "before the answer to initialize"},
		{"update before session/new", strings.Split(begin, "> {\"id\":2")[0] + update(`"sessionUpdate":"available_commands_update"`), "does not know yet"},
		{"update behind the answer", begin + prompt + answer + "\n" + update(`"sessionUpdate":"plan"`), "outside a turn"},
		{"mode outside a turn", begin + update(`"sessionUpdate":"current_mode_update","currentModeId":"ask"`), ""},
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
