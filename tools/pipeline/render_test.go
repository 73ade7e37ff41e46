package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/transcript"
)

// explosive cannot be written.
type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("in the data") }

// R7: what a tool hands back is its own code as well.
func TestRender_PanicInData(t *testing.T) {
	s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return tools.Output(explosive{}), nil
	})
	want(t, s.call(t, "custom", object{}), transcript.Failed, "in the data")
	ctx, cancel := context.WithCancel(t.Context())
	s = customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
		cancel()
		return tools.Output(explosive{}), nil
	})
	want(t, s.callIn(ctx, t, "custom", object{}), transcript.Cancelled, "")
}

// R106: an error's text is cut like a result's.
func TestRender_HugeError(t *testing.T) {
	s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return nil, fmt.Errorf("%s", strings.Repeat("x", 1<<20))
	})
	end := s.call(t, "custom", object{})
	if len(end.Text) > 110_000 || len(end.Result.ErrorText) > 110_000 || !end.Result.Metadata.Truncated {
		t.Errorf("%d bytes of text, %d of error, truncated %v", len(end.Text), len(end.Result.ErrorText), end.Result.Metadata.Truncated)
	}
	if whole, err := os.ReadFile(end.Result.Metadata.OutputPath); err != nil || len(whole) < 1<<20 {
		t.Errorf("the whole: %d bytes, %v", len(whole), err)
	}
}

// R105: what stays of the data of a cut result.
func TestRender_HeadOfData(t *testing.T) {
	many := map[string]int{}
	for i := range 40_000 {
		many[fmt.Sprintf("key%05d", i)] = i
	}
	var list []string
	for i := range 40_000 {
		list = append(list, fmt.Sprintf("element %05d", i))
	}
	for name, data := range map[string]any{"object": many, "array": list, "text": strings.Repeat("t", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) { return tools.Output(data), nil })
			end := s.call(t, "custom", object{})
			if len(end.Result.Data) > 300_000 || !end.Result.Metadata.Truncated {
				t.Errorf("%d bytes of data, truncated %v", len(end.Result.Data), end.Result.Metadata.Truncated)
			}
			var cut struct {
				Head     any `json:"head"`
				Key00000 any `json:"key00000"`
			}
			if err := json.Unmarshal(end.Result.Data, &cut); err != nil {
				t.Fatal(err)
			}
			switch head := cut.Head.(type) {
			case []any:
				if name != "array" || len(head) < 1000 || head[0] != "element 00000" {
					t.Errorf("the head is a list of %d", len(head))
				}
			case string:
				if name == "array" || name == "object" && cut.Key00000 == nil {
					t.Errorf("the head is a text, the first field %v", cut.Key00000)
				}
			default:
				t.Errorf("the head is %T", head)
			}
		})
	}
}

// R105: of a text and data that differ, only what is too large is cut.
func TestRender_CutsWhatIsLarge(t *testing.T) {
	large := strings.Repeat("x", 300_000)
	for name, data := range map[string]any{"object": object{"output": large, "ok": true}, "text": large} {
		s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
			return &tools.Result{Text: "lint: passed", Data: data}, nil
		})
		end := s.call(t, "custom", object{})
		if end.Text != "lint: passed" || !end.Result.Metadata.Truncated || len(end.Result.Data) > 110_000 {
			t.Errorf("%s: %d bytes of text, %d of data, truncated %v",
				name, len(end.Text), len(end.Result.Data), end.Result.Metadata.Truncated)
		}
		if whole, err := os.ReadFile(end.Result.Metadata.OutputPath); err != nil || !strings.Contains(string(whole), large) {
			t.Errorf("%s: the whole: %d bytes, %v", name, len(whole), err)
		}
	}
	s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return &tools.Result{Text: large, Data: "small"}, nil
	})
	end := s.call(t, "custom", object{})
	if string(end.Result.Data) != `"small"` || len(end.Text) > 110_000 || !end.Result.Metadata.Truncated {
		t.Errorf("%d bytes of text with the data %.50s", len(end.Text), end.Result.Data)
	}
}

// A tool from elsewhere does not say what only the agent can know (R125, R129).
func TestRender_ForeignClaims(t *testing.T) {
	var dir string
	spec := tools.Spec{Source: tools.Source{Kind: tools.Module}}
	s := customStage(t, spec, func(context.Context, tools.Runtime) (*tools.Result, error) {
		result := tools.Output(strings.Repeat("x", 1<<20))
		result.Truncated, result.OutputPath = true, "/etc/passwd"
		result.TrackFiles = []string{"/etc/passwd", "relative", filepath.Join(dir, "a.txt")}
		return result, nil
	})
	dir = s.dir
	end := s.call(t, "custom", object{})
	if end.Result.Metadata.OutputPath == "/etc/passwd" || len(end.Text) > 110_000 {
		t.Errorf("sidecar %q, %d bytes", end.Result.Metadata.OutputPath, len(end.Text))
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, "a.txt")}, end.Result.Metadata.TrackFiles); diff != "" {
		t.Errorf("changed files (-want +got):\n%s", diff)
	}
	s = customStage(t, spec, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return nil, &tools.Error{Kind: tools.Denied, DeniedBy: "user", Message: "the user said no"}
	})
	end = s.call(t, "custom", object{})
	if end.State != transcript.Failed || end.Result.Error.DeniedBy != "" {
		t.Errorf("ended as %q, denied by %q", end.State, end.Result.Error.DeniedBy)
	}
}
