package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/schematest"
)

// points are the 46 points that the protocol asks of an agent (docs of ACP v1),
// in the order of our checklist, each with the tests that hold it: scripts of
// testdata/scripts by their names, tests by theirs. "every run" is what
// acptest.Check, the schema and the end of the process judge in each script and
// each test that starts the agent.
var points = []struct {
	number int
	what   string
	by     string
}{
	{1, "stdout is one JSON-RPC message a line, and nothing else", "every run, TestRobust_Lines"},
	{2, "UTF-8", "every run, bash_bytes, TestRobust_Lines"},
	{3, "the log is on stderr, and small", "TestWire_Quiet"},
	{4, "ids are echoed exactly", "every run, TestRobust_Lines"},
	{5, "a response has a result or an error", "every run"},
	{6, "notifications are not answered", "every run, method_unknown, cancel_idle, TestRobust_Lines"},
	{7, "unknown methods are -32601", "method_unknown"},
	{8, "the connection survives errors", "TestRobust_Lines, method_unknown"},
	{9, "extensions: requests are answered, notifications ignored", "method_unknown"},
	{10, "no custom root fields", "every run"},
	{11, "_meta is accepted", "initialize_odd"},
	{12, "an error message is one line", "every run"},
	{13, "exits when stdin closes", "every run, TestRobust_InputEnds, TestRobust_InputEndsAnywhere"},
	{14, "malformed lines are -32700 and -32600 with id null", "TestRobust_Lines, TestRobust_LongLines"},
	{15, "paths are absolute, lines count from 1", "every run, session_cwd"},
	{16, "initialize succeeds", "initialize_answer, auth_unconfigured"},
	{17, "version 1 is answered 1", "initialize_answer"},
	{18, "version 65535 is answered 1", "initialize_newer"},
	{19, "agentInfo", "initialize_answer"},
	{20, "capabilities that are not there are unsupported", "every run, initialize_odd"},
	{21, "no terminal login unless offered", "initialize_answer, initialize_auth_terminal"},
	{22, "auth methods have ids of their own", "initialize_answer"},
	{23, "authenticate makes session/new work", "auth_logout"},
	{24, "logout works", "auth_logout"},
	{25, "-32000 only where there is an auth method", "auth_unconfigured"},
	{26, "session ids are unique", "every run, sessions_side_by_side, TestWire_ManySessions"},
	{27, "cwd is used, and must be absolute", "session_cwd"},
	{28, "MCP servers: all kinds accepted, connected, failures said", "mcp_servers, mcp_tools"},
	{29, "session/load: the whole replay, then the answer", "stored_load, stored_waiting, TestInterop_Stored"},
	{30, "session/resume: no replay", "stored_load, TestInterop_Stored"},
	{31, "session/list", "stored_load, stored_unknown, TestInterop_Stored"},
	{32, "session/delete", "stored_unknown, stored_open, TestInterop_Stored"},
	{33, "close cancels the turn and frees the session", "close_running, session_unknown"},
	{34, "additional directories", "additional_directories"},
	{35, "config options: whole lists, valid values, no boolean unless offered", "every run, mode_and_options, TestWire_ModelList"},
	{36, "modes", "every run, mode_and_options, mode_code"},
	{37, "a prompt ends with a stop reason", "turn_read_edit_bash, turn_stop_reasons, turn_circles"},
	{38, "updates fit the schema and their session", "every run, sessions_side_by_side"},
	{39, "the content of prompts", "prompt_content"},
	{40, "every tool call is reported, in_progress when it starts", "every run, turn_read_edit_bash, turn_tool_faults"},
	{41, "cancel: cancelled, after all updates, nothing later", "every run, cancel_streaming, cancel_permission, cancel_command, TestRobust_CancelPrompt, TestRobust_CancelBehindPrompt"},
	{42, "$/cancel_request is answered", "queue_withdraw, cancel_request_running"},
	{43, "files and terminals of the client only if offered, each flag for itself", "every run, editor_files, editor_files_read_only, editor_files_write_only, bash_plain"},
	{44, "terminals are released", "every run, bash_terminal, bash_terminal_cancel"},
	{45, "elicitation: not used yet", "every run"},
	{46, "notices only if offered", "every run, mcp_servers, mcp_servers_notice"},
}

// TestWire_Points insists that the table above names what there is.
func TestWire_Points(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("..", "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for i, point := range points {
		if point.number != i+1 {
			t.Errorf("point %d stands in the place of %d", point.number, i+1)
		}
		for by := range strings.SplitSeq(point.by, ", ") {
			there := by == "every run" || strings.Contains(source.String(), "func "+by+"(")
			if !there {
				_, err := os.Stat(filepath.Join("..", "..", "..", "testdata", "scripts", by+".txtar"))
				there = err == nil
			}
			if !there {
				t.Errorf("point %d, %s: there is no test or script %s", point.number, point.what, by)
			}
		}
	}
}

// TestWire_Schema makes a missing schema known: without it the runs are judged
// by acptest.Check alone.
func TestWire_Schema(t *testing.T) {
	t.Parallel()
	schematest.Open(t)
}

// TestWire_Quiet is point 3: a run in which all is well logs nothing.
func TestWire_Quiet(t *testing.T) {
	t.Parallel()
	agent := acptest.Start(t, acptest.Options{Model: agenttest.Hello})
	agent.Initialize("")
	agent.NewSession(t.TempDir()).Prompt("hello").Ends("end_turn")
	agent.Close()
	if agent.Stderr() != "" {
		t.Errorf("stderr has %q", agent.Stderr())
	}
}

// TestWire_ModelList is R158: the models that the server offers become values
// of the model option, without session/new waiting for them; an option chosen
// from the list is what the server is asked for.
func TestWire_ModelList(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Step{Text: "Here."})
	server.HandleJSON("/v1/models", `{"object":"list","data":[{"id":"small"},{"id":"large"}]}`)
	agent := acptest.Start(t, acptest.Options{Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=small"}})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	agent.Expect("the list of models", acptest.Update("config_option_update", "configOptions", `"large"`))
	chosen := agent.Request("session/set_config_option", map[string]any{"sessionId": session.ID, "configId": "model", "value": "large"}).Result()
	if got := chosen.Get("result.configOptions.1.currentValue"); got != "large" {
		t.Errorf("the model is %v, want large", got)
	}
	session.Prompt("hello").Ends("end_turn")
	if body := lastCompletion(server); !strings.Contains(body, `"model":"large"`) {
		t.Errorf("the server was asked %.200s, want the model large", body)
	}
}

// lastCompletion is the body of the last request for an answer; there are
// others, about the server's models.
func lastCompletion(server *modeltest.Server) string {
	body := ""
	for _, request := range server.Requests() {
		if strings.HasSuffix(request.Path, "/chat/completions") {
			body = string(request.Body)
		}
	}
	return body
}

// TestWire_ManySessions is R147: many sessions of one connection have turns at
// once, each its own.
func TestWire_ManySessions(t *testing.T) {
	t.Parallel()
	const sessions = 20
	agent := acptest.Start(t, acptest.Options{
		Model: `{"when": "session (.+)$", "say": "I am", "call": [{"name": "write", "args": {"path": "name.txt", "content": "${match.1}"}}], "chunk": 1, "pause_ms": 1}
{"expect": {"last_result": "Successfully created"}, "say": " ${match.1}.", "chunk": 1}`,
		Permission: acptest.Answer("allow_once"),
	})
	agent.Initialize("")
	var all []*acptest.Session
	var turns []*acptest.Turn
	var dirs []string
	for i := range sessions {
		dirs = append(dirs, t.TempDir())
		all = append(all, agent.NewSession(dirs[i]))
	}
	for i, session := range all {
		turns = append(turns, session.Prompt(fmt.Sprintf("session %d", i)))
	}
	for i, turn := range turns {
		turn.Ends("end_turn")
		if text, want := all[i].Text(), fmt.Sprintf("I am %d.", i); text != want {
			t.Errorf("session %d said %q, want %q", i, text, want)
		}
		text, err := os.ReadFile(filepath.Join(dirs[i], "name.txt"))
		if want := fmt.Sprintf("%d\n", i); err != nil || string(text) != want {
			t.Errorf("session %d wrote %q (%v), want %q", i, text, err, want)
		}
	}
}

// TestWire_ResultsInOrder is R22: calls of one step may run side by side; the
// model reads their results in the order in which it made them.
func TestWire_ResultsInOrder(t *testing.T) {
	t.Parallel()
	calls := make([]modeltest.Call, 8)
	dir := t.TempDir()
	for i := range calls {
		name := fmt.Sprintf("%d.txt", i)
		calls[i] = modeltest.Call{Name: "read", Arguments: fmt.Sprintf(`{"path":%q}`, name)}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(fmt.Sprintf("content %d\n", i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := modeltest.New(t, modeltest.Step{Calls: calls}, modeltest.Step{Text: "Done."})
	agent := acptest.Start(t, acptest.Options{Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake"}})
	agent.Initialize("")
	agent.NewSession(dir).Prompt("read all").Ends("end_turn")
	body, at := lastCompletion(server), 0
	for i := range calls {
		next := strings.Index(body[at:], fmt.Sprintf("content %d", i))
		if next < 0 {
			t.Fatalf("the result of call %d is not after that of call %d", i, i-1)
		}
		at += next
	}
}
