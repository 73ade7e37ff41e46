package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestTask_Forms(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, args, want string }{
		{"whole", `{"subagent_type":"explore","prompt":"p","background":true,"metadata":{"a":1}}`, `{"subagent_type":"explore","prompt":"p","background":true,"metadata":{"a":1}}`},
		{"short", `{"prompt":"p"}`, `{"prompt":"p","subagent_type":"general"}`},
		{"short with context", `{"prompt":"p","context":"c"}`, `{"metadata":{"context":"c"},"prompt":"p","subagent_type":"general"}`},
		{"context beside the type", `{"subagent_type":"explore","prompt":"p","context":"c","metadata":{"a":1}}`, `{"metadata":{"a":1,"context":"c"},"prompt":"p","subagent_type":"explore"}`},
		{"context twice, the same", `{"subagent_type":"x","prompt":"p","context":"c","metadata":{"context":"c"}}`, `{"metadata":{"context":"c"},"prompt":"p","subagent_type":"x"}`},
	}
	for _, tt := range tests {
		for _, name := range []string{"task", "Task"} {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				_, ready, err := tooltest.Prepare(newTask(), name, tt.args, tools.Env{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, string(ready.Raw())); diff != "" {
					t.Errorf("arguments (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestTask_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, args, want string }{
		{"no type beyond the short form", `{"prompt":"p","background":true}`, "subagent_type"},
		{"no type beside metadata", `{"prompt":"p","context":"c","metadata":{}}`, "subagent_type"},
		{"no prompt", `{"context":"c"}`, "missing"},
		{"nothing", `{}`, "missing"},
		{"context of another shape", `{"prompt":"p","context":{}}`, "context"},
		{"two contexts", `{"subagent_type":"x","prompt":"p","context":"c","metadata":{"context":"d"}}`, "context"},
		{"metadata of another shape", `{"subagent_type":"x","prompt":"p","context":"c","metadata":[]}`, "metadata"},
		{"prompt of another shape", `{"prompt":[1]}`, "prompt"},
		{"unknown argument", `{"subagent_type":"x","prompt":"p","budget":"m"}`, "budget"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, tooltest.New(tooltest.Options{}), newTask(), tt.args, tools.BadInput, tt.want)
		})
	}
}

func TestTask_NotEnabled(t *testing.T) {
	t.Parallel()
	failure := wantFailure(t, tooltest.New(tooltest.Options{}), newTask(), `{"subagent_type":"explore","prompt":"p"}`, tools.Unavailable, "")
	if failure.Error() != "Sub-agents not enabled" {
		t.Errorf("text %q", failure.Error())
	}
}

// Whatever the arguments, preprocessing neither fails in another way than a
// tool's, nor gives anything but JSON, nor changes a subagent that was named.
func FuzzTask_Preprocess(f *testing.F) {
	f.Add(`{"prompt":"p","context":"c"}`)
	f.Add(`{"subagent_type":"x","context":"c","metadata":{"context":null}}`)
	f.Add(`{"context":null,"metadata":null}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, args string) {
		var before, after struct {
			Type *string `json:"subagent_type"`
		}
		object := tools.NewArgs(args).Object()
		if object == nil {
			return
		}
		err := preprocessTask(object, tools.Env{})
		if _, ok := err.(*tools.Error); err != nil && !ok {
			t.Fatalf("error %v", err)
		}
		if err != nil || json.Unmarshal([]byte(args), &before) != nil || before.Type == nil || !strings.Contains(args, `"subagent_type"`) {
			return
		}
		ready, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(ready, &after) != nil || after.Type == nil || *after.Type != *before.Type {
			t.Errorf("%s became %s", args, ready)
		}
	})
}
