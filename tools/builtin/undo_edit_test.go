package builtin

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// fakeChanges is a [tools.Changes] with one answer.
type fakeChanges struct {
	change tools.Change
	err    error
	undone []string
}

func (c *fakeChanges) Last(context.Context, string) (tools.Change, error) { return c.change, c.err }

func (c *fakeChanges) Undo(_ context.Context, path string) (tools.Change, error) {
	c.undone = append(c.undone, path)
	return c.change, c.err
}

func (c *fakeChanges) Rollback(context.Context) []error { return nil }

// tracked is a runtime whose changes are given.
type tracked struct {
	*tooltest.Runtime
	changes tools.Changes
}

func (r tracked) Services() tools.Services { return tools.Services{Changes: r.changes} }

func TestUndoEdit(t *testing.T) {
	t.Parallel()
	const path = tooltest.Workspace + "/f.txt"
	tests := []struct {
		name     string
		change   tools.Change
		content  kinds.Content
		wantDiff string
		wantText string
	}{
		{
			"modified",
			tools.Change{Path: path, Old: new("a\nB\n"), New: new("a\nb\n"), Exists: true},
			kinds.Diff{Path: path, Old: new("a\nB\n"), New: "a\nb\n"},
			"-B\n+b\n", "as it was before",
		},
		{
			"created",
			tools.Change{Path: path, Old: new("a\n")},
			kinds.Diff{Path: path, Old: new("a\n")},
			"-a\n", "gone again",
		},
		{
			"deleted",
			tools.Change{Path: path, New: new("a\n"), Exists: true},
			kinds.Diff{Path: path, New: "a\n"},
			"+a\n", "as it was before",
		},
		{
			"no text before",
			tools.Change{Path: path, Old: new("a\n"), Exists: true},
			kinds.Text{Text: "Restores `" + path + "`, whose content cannot be shown."},
			"", "as it was before",
		},
		{
			"no text now",
			tools.Change{Path: path},
			kinds.Text{Text: "Removes `" + path + "`, whose content cannot be shown."},
			"", "gone again",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changes := &fakeChanges{change: tt.change}
			rt := tracked{tooltest.New(tooltest.Options{}), changes}
			args := json.RawMessage(`{"path":"` + path + `"}`)
			preview, err := newUndoEdit().Preview(t.Context(), rt, tools.NewArgs(args))
			if err != nil || len(changes.undone) > 0 {
				t.Fatalf("preview: %v, undid %v", err, changes.undone)
			}
			result, err := newUndoEdit().Run(t.Context(), rt, tools.NewArgs(args))
			if err != nil {
				t.Fatal(err)
			}
			for what, content := range map[string][]kinds.Content{"preview": preview, "card": result.Content} {
				if diff := cmp.Diff([]kinds.Content{tt.content}, content); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			data := result.Data.(undoEditData)
			if data.Path != path || !strings.HasSuffix(data.Diff, tt.wantDiff) || tt.wantDiff == "" && data.Diff != "" {
				t.Errorf("data = %+v, want a diff that ends in %q", data, tt.wantDiff)
			}
			if text := result.ModelText(); !strings.HasPrefix(text, "Undid the last change of "+path) || !strings.Contains(text, tt.wantText) {
				t.Errorf("text = %q", text)
			}
			if diff := cmp.Diff([]string{path}, result.TrackFiles); diff != "" {
				t.Errorf("track files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{path}, changes.undone); diff != "" {
				t.Errorf("undone (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUndoEdit_GoesBackStepByStep runs it after the tools whose work it takes
// back.
func TestUndoEdit_GoesBackStepByStep(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": "one\n"}})
	call := func(tool tools.Tool, args string) (*tools.Result, error) {
		return rt.Run(t.Context(), tool, tool.ID, args)
	}
	steps := []struct {
		tool tools.Tool
		args string
		want string
	}{
		{newEdit(), `{"path":"f.txt","old_str":"one","new_str":"two"}`, "two\n"},
		{newWrite(), `{"path":"f.txt","content":"three\n"}`, "three\n"},
		{newUndoEdit(), `{"path":"f.txt"}`, "two\n"},
		{newUndoEdit(), `{"file_path":"~/../../test-workspace/f.txt"}`, "one\n"},
		{newDeleteFile(), `{"path":"f.txt"}`, ""},
		{newUndoEdit(), `{"path":"f.txt"}`, "one\n"},
	}
	for _, step := range steps {
		if _, err := call(step.tool, step.args); err != nil {
			t.Fatalf("%s: %v", step.tool.ID, err)
		}
		if got, _ := rt.Mem.Get("f.txt"); got != step.want {
			t.Fatalf("after %s: %q, want %q", step.tool.ID, got, step.want)
		}
	}
	if _, err := call(newUndoEdit(), `{"path":"f.txt"}`); err == nil || !strings.Contains(err.Error(), "nothing to undo for") {
		t.Errorf("error = %v", err)
	}
}

func TestUndoEdit_Refuses(t *testing.T) {
	t.Parallel()
	since := tools.Errorf(tools.BadInput, "f.txt was changed since; nothing was undone")
	tests := []struct {
		name    string
		changes tools.Changes
		args    string
		kind    tools.ErrorKind
		says    string
	}{
		{"empty path", &fakeChanges{}, `{"path":""}`, tools.BadInput, "path must not be empty"},
		{"not tracked", nil, `{"path":"f.txt"}`, tools.Unavailable, "not tracked"},
		{"changed since", &fakeChanges{err: since}, `{"path":"f.txt"}`, tools.BadInput, "changed since"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := tracked{tooltest.New(tooltest.Options{}), tt.changes}
			_, runErr := newUndoEdit().Run(t.Context(), rt, tools.NewArgs(tt.args))
			_, previewErr := newUndoEdit().Preview(t.Context(), rt, tools.NewArgs(tt.args))
			for _, err := range []error{runErr, previewErr} {
				if e, ok := err.(*tools.Error); !ok || e.Kind != tt.kind || !strings.Contains(e.Message, tt.says) {
					t.Errorf("error = %v, want %s %q", err, tt.kind, tt.says)
				}
			}
		})
	}
}
