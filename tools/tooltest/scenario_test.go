package tooltest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

// The scenario of seed 002, with the argument names it uses.
func TestScenario_SeedEdit(t *testing.T) {
	t.Parallel()
	const seed = `{
		"tool": "edit_file",
		"args": {"path": "test.js", "old_string": "console.log(\"hello\")", "new_string": "console.log(\"goodbye\")"},
		"files": {"test.js": "console.log(\"hello\")\nmore code"},
		"expectedFiles": [{"path": "test.js", "content": "console.log(\"goodbye\")\nmore code"}]
	}`
	var s tooltest.Scenario
	if err := json.Unmarshal([]byte(seed), &s); err != nil {
		t.Fatal(err)
	}
	outcome := s.Run(t.Context(), builtin.All()...)
	if !outcome.Passed || outcome.Err != nil || outcome.Result == nil {
		t.Errorf("outcome = %+v, want it passed", outcome)
	}
}

func TestScenario_Findings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		s    tooltest.Scenario
		want []string
	}{
		{
			"content differs",
			tooltest.Scenario{
				Tool: "write", Args: map[string]any{"path": "a.txt", "content": "new\n"},
				ExpectedFiles: []tooltest.ExpectedFile{{Path: "a.txt", Content: "other\n"}},
			},
			[]string{"File a.txt content mismatch:\nExpected: other\n\nActual: new\n"},
		},
		{
			"file missing and file too many",
			tooltest.Scenario{
				Tool: "write", Args: map[string]any{"path": "a.txt", "content": "x"},
				ExpectedFiles: []tooltest.ExpectedFile{{Path: "b.txt", Content: "x\n"}, {Path: "a.txt", Absent: true}},
			},
			[]string{"File b.txt is missing:\nExpected: x\n", "File a.txt should not exist:\nActual: x\n"},
		},
		{
			"process calls",
			tooltest.Scenario{
				Tool: "bash", Args: map[string]any{"cmd": "cd sub && make"}, Files: map[string]string{"sub/x": ""},
				Processes:     []tooltest.Script{{}},
				ExpectedCalls: []tooltest.ExpectedCall{{Cmd: "make", Cwd: "/elsewhere"}, {Cmd: "make test"}},
			},
			[]string{
				"Process call 1 mismatch:\nExpected: make (in /elsewhere)\nActual: make (in /test-workspace/sub)",
				"Process call 2 is missing:\nExpected: make test",
			},
		},
		{
			"unexpected process call",
			tooltest.Scenario{
				Tool: "bash", Args: map[string]any{"cmd": "make"}, Processes: []tooltest.Script{{}},
				ExpectedCalls: []tooltest.ExpectedCall{},
			},
			[]string{"Unexpected process call:\nActual: make (in /test-workspace)"},
		},
		{
			"error not expected",
			tooltest.Scenario{Tool: "read", Args: map[string]any{"path": "a.txt"}},
			[]string{"Error mismatch:\nExpected: \nActual: ENOENT: no such file or directory '/test-workspace/a.txt'"},
		},
		{
			"error expected",
			tooltest.Scenario{
				Tool: "Read", Args: map[string]any{"path": "a.txt"},
				ExpectedError: "ENOENT: no such file or directory '/test-workspace/a.txt'",
			},
			nil,
		},
		{"unknown tool", tooltest.Scenario{Tool: "reed"}, []string{`unknown tool "reed"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			outcome := tt.s.Run(t.Context(), builtin.All()...)
			if outcome.Passed != (len(tt.want) == 0) || len(outcome.Errors) != len(tt.want) {
				t.Fatalf("errors = %q, want %q", outcome.Errors, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(outcome.Errors[i], want) {
					t.Errorf("error %d = %q, want %q", i, outcome.Errors[i], want)
				}
			}
		})
	}
}

func TestMock(t *testing.T) {
	t.Parallel()
	mock := tooltest.NewMock("weather", map[string]int{"degrees": 21})
	rt := tooltest.New(tooltest.Options{})
	for range 2 {
		result, err := rt.Run(t.Context(), mock.Tool, "weather", `{}`)
		if err != nil || result.ModelText() != `{"degrees":21}` {
			t.Fatalf("Run = %+v, %v", result, err)
		}
	}
	if mock.CallCount() != 2 || string(mock.Inputs()[1]) != `{}` {
		t.Errorf("calls = %d, inputs = %s", mock.CallCount(), mock.Inputs())
	}
}

func TestProcesses_StartFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("no shell")
	s := tooltest.Scenario{
		Tool: "bash", Args: map[string]any{"cmd": "make"}, Processes: []tooltest.Script{{Err: broken}},
		ExpectedError: `bash: the command could not be run: start "make": no shell`,
	}
	if outcome := s.Run(t.Context(), builtin.All()...); !outcome.Passed || !errors.Is(outcome.Err, broken) {
		t.Errorf("outcome = %+v", outcome)
	}
}
