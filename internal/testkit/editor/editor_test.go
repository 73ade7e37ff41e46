package editor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/editor"
)

// lines reads a run: "> " is from the client, "< " from the agent; an update is written
// without its envelope.
func lines(t *testing.T, run string) []acptest.Line {
	t.Helper()
	var all []acptest.Line
	for line := range strings.Lines(run) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		raw := line[2:]
		if strings.HasPrefix(raw, `{"sessionUpdate"`) {
			raw = `{"method":"session/update","params":{"sessionId":"s","update":` + raw + `}}`
		}
		m, err := acptest.Parse([]byte(raw))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, acptest.Line{FromAgent: line[0] == '<', Raw: raw, Message: m})
	}
	return all
}

const (
	prompt   = `> {"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}` + "\n"
	answered = `< {"id":1,"result":{"stopReason":"end_turn"}}` + "\n"
	command  = `< {"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"sub-it: go","status":"pending","rawInput":{"cmd":"sub-it: go"},` +
		`"content":[{"type":"terminal","terminalId":"c"}],"_meta":{"terminal_info":{"terminal_id":"c"}}}` + "\n"
	printed = `< {"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{"terminal_id":"c","data":"made\n"}}}` + "\n"
	done    = `< {"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}` + "\n"
	once    = `{"optionId":"allow","kind":"allow_once","name":"Allow once"},{"optionId":"reject","kind":"reject_once","name":"Reject"}`
	twice   = `{"optionId":"allow_always","kind":"allow_always","name":"Allow for this session"},{"optionId":"allow_project","kind":"allow_always","name":"Allow for this project"}`
)

// ask is a permission request.
func ask(call, options string) string {
	return `< {"id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":` + call + `,"options":[` + options + `]}}` + "\n"
}

// text is a card's content or a message of the agent.
func text(s string) string {
	b, _ := json.Marshal(s)
	return `{"type":"content","content":{"type":"text","text":` + string(b) + `}}`
}

func message(id, s string) string {
	return `< {"sessionUpdate":"agent_message_chunk","messageId":"` + id + `","content":{"type":"text","text":"` + s + `"}}` + "\n"
}

// TestJudge has each fault once, and what is right, in the editors that tell them apart.
func TestJudge(t *testing.T) {
	why := `{"toolCallId":"c","kind":"execute","title":"sub-it: go","rawInput":{"cmd":"sub-it: go"},"content":[` + text("Asked because: it changes files") + `]}`
	patch := `{"toolCallId":"c","kind":"edit","title":"Patch a.txt","content":[{"type":"diff","path":"/p/a.txt","oldText":"1","newText":"2"},{"type":"diff","path":"/p/b.txt","oldText":"1","newText":"2"}]}`
	plan := `{"toolCallId":"c","kind":"switch_mode","title":"Leave plan mode","content":[` + text("# Plan: all of it") + `]}`
	question := `{"toolCallId":"c","kind":"other","title":"Which?","content":[` + text("Which?") + `]}`
	for _, test := range []struct {
		name, run string
		want      map[string]string // losses by editor
	}{
		{
			"a terminal that the question replaces", prompt + command + ask(why, once) + printed + done + answered,
			map[string]string{"zed": "output", "jetbrains": "output", "agent-shell": "output", "avante": "output", "acpx": "output"},
		},
		{
			"a terminal that is sent again", prompt + command + ask(why, once) + printed +
				strings.Replace(done, `"status"`, `"content":[{"type":"terminal","terminalId":"c"}],"status"`, 1) + answered,
			map[string]string{"agent-shell": "output", "avante": "output", "acpx": "output"}, // they show no terminals
		},
		{
			"two options of one kind", prompt + ask(why, once+","+twice) + done + answered,
			map[string]string{"codecompanion": "answer", "avante": "answer"},
		},
		{
			"a question as a permission request", prompt + ask(question, `{"optionId":"1","kind":"allow_once","name":"Hello"},{"optionId":"2","kind":"reject_once","name":"Salut"}`) + done + answered,
			map[string]string{"codecompanion": "answer", "avante": "answer", "agent-shell": "answer", "acpx": "answer"},
		},
		{
			"a request between turns", prompt + answered + ask(why, once),
			map[string]string{"codecompanion": "question"},
		},
		{
			"an end between turns", prompt + strings.Replace(command, "sub-it: go", "go", 1) + answered + done,
			map[string]string{"codecompanion": "busy", "agent-shell": "busy"},
		},
		{
			"a command with a location", prompt + command + strings.Replace(done, `"status"`, `"locations":[{"path":"/p/sub-was-here"}],"status"`, 1) + answered,
			map[string]string{"codecompanion": "title"},
		},
		{
			"Markdown in a title", prompt + strings.Replace(strings.Replace(command, "sub-it: go", "Read pkg/__init__.py", 1), "execute", "read", 1) + done + answered,
			map[string]string{"zed": "title"},
		},
		{
			"Markdown that is escaped", prompt + strings.Replace(strings.Replace(command, "sub-it: go", "Read `pkg/__init__.py`", 1), "execute", "read", 1) + done + answered, nil,
		},
		{
			"a name that a colon cuts", prompt + strings.Replace(command, "execute", "read", 1) + done + answered,
			map[string]string{"codecompanion": "title"},
		},
		{
			"a plan in the question alone", prompt + ask(plan, once) + done + answered,
			map[string]string{"codecompanion": "question", "agent-shell": "question", "acpx": "question"},
		},
		{"a plan that the chat said", prompt + message("1", "# Plan: all of it") + ask(plan, once) + done + answered, nil},
		{
			"two diffs, one in the title", prompt + ask(patch, once) + done + answered,
			map[string]string{"codecompanion": "question", "agent-shell": "question", "acpx": "question"},
		},
		{
			"two diffs, both in the title", prompt + ask(strings.Replace(patch, "Patch a.txt", "Patch a.txt, b.txt", 1), once) + done + answered,
			map[string]string{"codecompanion": "question"}, // it shows the name of the first alone
		},
		{
			"content that only tool_call has", prompt + `< {"sessionUpdate":"tool_call","toolCallId":"c","title":"go","status":"completed","content":[` + text("out") + `]}` + "\n" + answered,
			map[string]string{"agent-shell": "output"},
		},
		{
			"an exit code that is nowhere", prompt + strings.Replace(command, "sub-it: go", "go", 1) +
				strings.Replace(done, `"status"`, `"content":[`+text("out")+`],"rawOutput":{"data":{"exit_code":3}},"status"`, 1) + answered,
			map[string]string{"zed": "output", "jetbrains": "output", "agent-shell": "output", "avante": "output", "acpx": "output"},
		},
		{
			"messages that stick together", prompt + message("1", "one.") + message("2", "two.") + answered,
			map[string]string{"zed": "text", "jetbrains": "text", "codecompanion": "text", "agent-shell": "text", "avante": "text", "acpx": "text"},
		},
		{"messages apart", prompt + message("1", "one.") + message("2", `\n\ntwo.`) + answered, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			run, got := lines(t, test.run), map[string]string{}
			for _, e := range editor.All {
				for _, l := range editor.Judge(e, run) {
					if !strings.Contains(got[e.Name()], l.What) {
						got[e.Name()] = strings.TrimPrefix(got[e.Name()]+","+l.What, ",")
					}
				}
			}
			if test.want == nil {
				test.want = map[string]string{}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("losses by editor (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNamed finds the models by their names, and each sends params that are JSON.
func TestNamed(t *testing.T) {
	for _, e := range editor.All {
		if editor.Named(e.Name()) != e || !json.Valid([]byte(e.Params())) {
			t.Errorf("%s: not found by its name, or its params are no JSON", e.Name())
		}
	}
	if editor.Named("none") != nil {
		t.Error("there is an editor named none")
	}
}
