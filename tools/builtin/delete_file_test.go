package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestDeleteFile(t *testing.T) {
	t.Parallel()
	const path = tooltest.Workspace + "/f.txt"
	tests := []struct {
		name, content string
		editor        map[string]string
		want          kinds.Content
	}{
		{"text", "a\n", nil, kinds.Diff{Path: path, Old: new("a\n")}},
		{"empty", "", nil, kinds.Diff{Path: path, Old: new("")}},
		{"unsaved work", "a\n", map[string]string{"f.txt": "b\n"}, kinds.Diff{Path: path, Old: new("b\n")}},
		{"too large", strings.Repeat("x", 20), nil, kinds.Text{Text: "Deletes `" + path + "`, whose content cannot be shown."}},
	}
	for _, tt := range tests {
		for _, name := range []string{"delete_file", "Delete", "delete"} {
			t.Run(tt.name+" as "+name, func(t *testing.T) {
				limits := tools.CanonicalLimits()
				limits.FileBytes = 10
				rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": tt.content}, Editor: tt.editor, Limits: &limits})
				preview, err := newDeleteFile().Preview(t.Context(), rt, tools.NewArgs(`{"path":"`+path+`"}`))
				if err != nil {
					t.Fatal(err)
				}
				if _, there := rt.Mem.Get("f.txt"); !there {
					t.Fatal("the preview deleted the file")
				}
				result, err := rt.Run(t.Context(), newDeleteFile(), name, `{"file_path":"f.txt"}`)
				if err != nil {
					t.Fatal(err)
				}
				if _, there := rt.Mem.Get("f.txt"); there {
					t.Error("the file is still there")
				}
				for what, content := range map[string][]kinds.Content{"preview": preview, "card": result.Content} {
					if diff := cmp.Diff([]kinds.Content{tt.want}, content); diff != "" {
						t.Errorf("%s (-want +got):\n%s", what, diff)
					}
				}
				if got := result.ModelText(); got != "Deleted file "+path {
					t.Errorf("text = %q", got)
				}
				if diff := cmp.Diff([]string{path}, result.TrackFiles); diff != "" {
					t.Errorf("track files (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Of a link the link goes, wherever it leads: that is what is shown, and judged.
func TestDeleteFile_Link(t *testing.T) {
	t.Parallel()
	const base = tooltest.Workspace + "/"
	tests := []struct{ name, path, target string }{
		{"to a file", "to-file", "f.txt"},
		{"to a directory", "to-dir", "dir"},
		{"to nothing", "dangling", "nope"},
		{"out of the workspace", "out", "/elsewhere/f"},
		{"in a directory that is a link", "to-dir/inner", "f.txt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": "precious", "dir/x": ""}})
			rt.Mem.Link("to-dir", "dir")
			rt.Mem.Link("dir/inner", "f.txt")
			rt.Mem.Link(tt.path, tt.target)
			args := json.RawMessage(`{"path":"` + base + tt.path + `"}`)
			target, err := rt.Mem.Readlink(t.Context(), tt.path)
			if err != nil || target == "" {
				t.Fatalf("Readlink = %q, %v", target, err)
			}
			want := []kinds.Content{kinds.Text{Text: "Removes the link to `" + target + "`."}}
			preview, err := newDeleteFile().Preview(t.Context(), rt, tools.NewArgs(args))
			if err != nil {
				t.Fatal(err)
			}
			result, err := rt.Run(t.Context(), newDeleteFile(), "delete_file", string(args))
			if err != nil {
				t.Fatal(err)
			}
			for what, content := range map[string][]kinds.Content{"preview": preview, "card": result.Content} {
				if diff := cmp.Diff(want, content); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			if diff := cmp.Diff([]kinds.Location{{Path: base + tt.path}}, result.Locations); diff != "" {
				t.Errorf("locations (-want +got):\n%s", diff)
			}
			if left, err := rt.Mem.Readlink(t.Context(), tt.path); err != nil || left != "" {
				t.Errorf("the link still leads to %q, %v", left, err)
			}
			if text, _ := rt.Mem.Get("f.txt"); text != "precious" {
				t.Errorf("f.txt = %q", text)
			}
			judged := []tools.Resource{{Kind: tools.PathWrite, Value: base + tt.path, NoFollow: true}}
			if diff := cmp.Diff(judged, newDeleteFile().Resources(tools.NewArgs(args), rt.Sess.Env)); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeleteFile_Refuses(t *testing.T) {
	t.Parallel()
	const base = tooltest.Workspace + "/"
	tests := []struct{ name, path, says string }{
		{"empty path", "", "path must not be empty"},
		{"missing", "nope", "ENOENT: no such file or directory '" + base + "nope'"},
		{"directory", "dir", "is a directory"},
		{"secret", ".env", "secrets"},
		{"link to a secret", "plain", "secrets"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"dir/x": "", ".env": "KEY=1"}})
			rt.Mem.Link("plain", ".env")
			args, err := json.Marshal(map[string]string{"path": tt.path})
			if err != nil {
				t.Fatal(err)
			}
			_, runErr := rt.Run(t.Context(), newDeleteFile(), "delete_file", string(args))
			_, previewErr := newDeleteFile().Preview(t.Context(), rt, tools.NewArgs(args))
			for _, err := range []error{runErr, previewErr} {
				if e, ok := err.(*tools.Error); !ok || e.Kind != tools.BadInput || !strings.Contains(e.Message, tt.says) {
					t.Errorf("error = %v, want %q", err, tt.says)
				}
			}
			if writes := rt.Mem.Writes(); len(writes) > 0 {
				t.Errorf("changed %v", writes)
			}
		})
	}
}

func TestEditTools_Conform(t *testing.T) {
	t.Parallel()
	for _, tool := range []tools.Tool{newUndoEdit(), newDeleteFile()} {
		t.Run(tool.ID, func(t *testing.T) { tooltest.Conform(t, tool) })
	}
}
