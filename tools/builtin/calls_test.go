package builtin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
)

var updateCalls = flag.Bool("update-calls", false, "write what the calls of testdata/calls mean")

// recordedCall is a call as a model made it, with the public address where it stands,
// and what it means here: a tool with its final arguments, or the words of a refusal.
type recordedCall struct {
	From    string          `json:"from"`
	Name    string          `json:"name"`
	Input   string          `json:"input"`
	Tool    string          `json:"tool,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Left    []string        `json:"left,omitempty"`
	Refused string          `json:"refused,omitempty"`
}

// Real calls of other agents' models, most of them taken from reports of their failure.
// Each row was read by eye: it means what its model meant, or is refused.
func TestCalls(t *testing.T) {
	t.Parallel()
	if all := checkCalls(t, "../../testdata/calls/calls.jsonl"); all < 200 {
		t.Errorf("%d calls, want 200 or more", all)
	}
}

// One call for each argument that the published schemas of another agent's tools have:
// none of them is unknown here.
func TestCalls_Published(t *testing.T) {
	t.Parallel()
	checkCalls(t, "../../testdata/calls/published.jsonl")
}

// checkCalls compares what the calls of a file mean with what stands there, and returns
// how many they are.
func checkCalls(t *testing.T, path string) int {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	env := tools.Env{Place: kinds.Place{Cwd: "/work/project", Home: "/home/user"}}
	var all []recordedCall
	understood := 0
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		var row recordedCall
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		got := meaning(registry, env, recordedCall{From: row.From, Name: row.Name, Input: row.Input})
		if got.Refused == "" {
			understood++
		}
		if row.Refused != "" && got.Refused != "" && !*updateCalls {
			got.Refused = row.Refused // of several wrong arguments, the schema check names any
		}
		if want, has := line(t, row), line(t, got); !*updateCalls && has != want {
			t.Errorf("got  %s\nwant %s", has, want)
		}
		all = append(all, got)
	}
	t.Logf("%d of %d calls are understood", understood, len(all))
	if *updateCalls {
		var out bytes.Buffer
		for _, row := range all {
			out.WriteString(line(t, row) + "\n")
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return len(all)
}

func line(t *testing.T, row recordedCall) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(row); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

// meaning takes a call through the stages up to the schema, as the pipeline does.
func meaning(registry *tools.Registry, env tools.Env, call recordedCall) recordedCall {
	repaired, _ := model.RepairArguments(call.Input)
	entry, raw, err := registry.Resolve(call.Name, json.RawMessage(repaired), nil)
	var args tools.Args
	if err == nil {
		args, call.Left, err = entry.Accept(call.Name, raw)
	}
	if err == nil {
		args, err = entry.RunPreprocess(args, env)
	}
	if err == nil {
		err = entry.Validate(args)
	}
	if err != nil {
		call.Left, call.Refused = nil, err.Error()
		return call
	}
	call.Tool, call.Args = entry.ID, args.Raw()
	return call
}

// An argument that asks for less than what the call would do is not left out: the call is
// refused with the way to say it.
func TestCalls_NotWithLess(t *testing.T) {
	t.Parallel()
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	env := tools.Env{Place: kinds.Place{Cwd: "/work/project", Home: "/home/user"}}
	for _, tt := range []struct {
		name, input string
		refused     bool
	}{
		{"Task", `{"prompt":"p","subagent_type":"general","readonly":true}`, true},
		{"Task", `{"prompt":"p","subagent_type":"general","readonly":false}`, false},
		{"Bash", `{"command":"ls","shell":"powershell"}`, true},
		{"Bash", `{"command":"ls","shell":"/bin/bash"}`, false},
		{"Bash", `{"command":"ls","shell":true}`, false},
	} {
		if got := meaning(registry, env, recordedCall{Name: tt.name, Input: tt.input}); (got.Refused != "") != tt.refused {
			t.Errorf("%s %s: got %s", tt.name, tt.input, line(t, got))
		}
	}
}
