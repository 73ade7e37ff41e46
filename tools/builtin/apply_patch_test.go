package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// everything creates, changes, deletes and renames.
const everything = `diff --git a/new/n.txt b/new/n.txt
new file mode 100644
--- /dev/null
+++ b/new/n.txt
@@ -0,0 +1,2 @@
+one
+two
--- a/m.txt
+++ b/m.txt
@@ -1,3 +1,3 @@
 a
-b
+B
 c
--- a/d.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/r.txt b/to/r.txt
rename from r.txt
rename to to/r.txt
--- a/r.txt
+++ b/to/r.txt
@@ -1,2 +1,2 @@
 x
-y
+Y
`

func patchFiles() map[string]string {
	return map[string]string{"m.txt": "a\r\nb\r\nc\r\n", "d.txt": "gone\n", "r.txt": "x\ny", "other": "o\n"}
}

// tree is all there is of the files that patches name.
func tree(rt *tooltest.Runtime, names ...string) map[string]string {
	found := map[string]string{}
	for _, name := range names {
		if content, ok := rt.Mem.Get(name); ok {
			found[name] = content
		}
	}
	return found
}

func TestApplyPatch(t *testing.T) {
	t.Parallel()
	under(t, []string{"apply_patch", "ApplyPatch"}, func(t *testing.T, limits tools.Limits, name string) {
		rt := tooltest.New(tooltest.Options{Files: patchFiles(), Limits: &limits})
		preview, err := tool(t, name).Preview(t.Context(), rt, tools.NewArgs(encode(t, map[string]any{"patch": everything})))
		if err != nil {
			t.Fatalf("Preview: %v", err)
		}
		if written := rt.Mem.Writes(); len(written) > 0 {
			t.Errorf("the preview wrote %v", written)
		}
		result := run(t, rt, name, map[string]any{"patch": everything})
		want := map[string]string{"new/n.txt": "one\ntwo\n", "m.txt": "a\r\nB\r\nc\r\n", "to/r.txt": "x\nY"}
		if diff := cmp.Diff(want, tree(rt, "new/n.txt", "m.txt", "d.txt", "r.txt", "to/r.txt")); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		m, d, r := "a\r\nb\r\nc\r\n", "gone\n", "x\ny"
		content := []kinds.Content{
			kinds.Diff{Path: "/test-workspace/new/n.txt", New: "one\ntwo\n"},
			kinds.Diff{Path: "/test-workspace/m.txt", Old: &m, New: "a\r\nB\r\nc\r\n"},
			kinds.Diff{Path: "/test-workspace/d.txt", Old: &d},
			kinds.Text{Text: "Renames `/test-workspace/r.txt` to `/test-workspace/to/r.txt`."},
			kinds.Diff{Path: "/test-workspace/to/r.txt", Old: &r, New: "x\nY"},
		}
		if diff := cmp.Diff(content, preview); diff != "" {
			t.Errorf("preview (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(preview, result.Content); diff != "" {
			t.Errorf("content differs from the preview (-want +got):\n%s", diff)
		}
		files := map[string]any{"files": []any{
			map[string]any{"path": "/test-workspace/new/n.txt", "op": "create", "added": 2.0, "removed": 0.0},
			map[string]any{"path": "/test-workspace/m.txt", "op": "modify", "added": 1.0, "removed": 1.0},
			map[string]any{"path": "/test-workspace/d.txt", "op": "delete", "added": 0.0, "removed": 1.0},
			map[string]any{"path": "/test-workspace/r.txt", "to": "/test-workspace/to/r.txt", "op": "rename", "added": 1.0, "removed": 1.0},
		}}
		if diff := cmp.Diff(files, data(t, result)); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		tracked := []string{
			"/test-workspace/new/n.txt", "/test-workspace/m.txt", "/test-workspace/d.txt", "/test-workspace/r.txt", "/test-workspace/to/r.txt",
		}
		if diff := cmp.Diff(tracked, result.TrackFiles); diff != "" {
			t.Errorf("track files (-want +got):\n%s", diff)
		}
		locations := []kinds.Location{
			{Path: "/test-workspace/to/r.txt", Line: 2},
			{Path: "/test-workspace/d.txt"},
			{Path: "/test-workspace/m.txt", Line: 2},
			{Path: "/test-workspace/new/n.txt", Line: 1},
		}
		if diff := cmp.Diff(locations, result.Locations); diff != "" {
			t.Errorf("locations (-want +got):\n%s", diff)
		}
	})
}

func TestApplyPatch_OtherArguments(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"input", "diff"} {
		rt := tooltest.New(tooltest.Options{Files: patchFiles()})
		run(t, rt, "apply_patch", map[string]any{key: "*** Begin Patch\n*** Update File: other\n@@\n-o\n+p\n*** End Patch"})
		if got, _ := rt.Mem.Get("other"); got != "p\n" {
			t.Errorf("%s: file = %q", key, got)
		}
	}
}

// Whatever is wrong with one file, no file changes (R97).
func TestApplyPatch_Refused(t *testing.T) {
	t.Parallel()
	good := "--- a/other\n+++ b/other\n@@ -1 +1 @@\n-o\n+p\n"
	tests := []struct {
		name, patch string
		kind        tools.ErrorKind
		mention     string
	}{
		{"no patch", "hello", tools.BadInput, "no change of a file found"},
		{"hunk that does not fit", good + "--- a/m.txt\n+++ b/m.txt\n@@ -1,2 +1,2 @@\n a\n-x\n+y\n", tools.BadInput, "patch line 8: m.txt: the hunk does not match"},
		{"hint after a miss", good + "--- a/long\n+++ b/long\n@@ -1 +1 @@\n-func twoParts(a, b int) {\n+x\n", tools.BadInput, "closest text is at lines 2-2"},
		{"missing file", good + "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n", tools.BadInput, "ENOENT: no such file or directory '/test-workspace/none'"},
		{"deletes a missing file", good + "--- a/none\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", tools.BadInput, "ENOENT"},
		{"creates what exists", good + "--- /dev/null\n+++ b/m.txt\n@@ -0,0 +1 @@\n+a\n", tools.BadInput, "/test-workspace/m.txt already exists"},
		{"renames to what exists", good + "rename from d.txt\nrename to m.txt\n", tools.BadInput, "/test-workspace/m.txt already exists"},
		{"deletes more than it says", good + "--- a/m.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", tools.BadInput, "more lines than the patch deletes"},
		{"changes nothing", good + "--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-a\n+a\n", tools.BadInput, "changes nothing in /test-workspace/m.txt"},
		{"binary file", good + "--- a/bin\n+++ b/bin\n@@ -1 +1 @@\n-a\n+b\n", tools.BadInput, "binary"},
		{"one file under two names", good + "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-o\n+q\n", tools.BadInput, "are one file"},
		{"deletes a link", good + "--- a/away\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n", tools.BadInput, "/test-workspace/away is a link to /test-workspace/d.txt"},
		{"named twice", good + good, tools.BadInput, "named at line 1 already"},
		{"a secret", good + "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-KEY=1\n+KEY=2\n", tools.BadInput, "holds secrets"},
		{"a secret that is not there", good + "--- a/sub/.env\n+++ b/sub/.env\n@@ -1 +1 @@\n-KEY=1\n+KEY=2\n", tools.BadInput, "holds secrets"},
		{"a secret under another name", good + "--- a/plain\n+++ b/plain\n@@ -1 +1 @@\n-KEY=1\n+KEY=2\n", tools.BadInput, "holds secrets"},
		{"moves a secret out", good + "rename from .env\nrename to public.txt\n", tools.BadInput, "holds secrets"},
		{"too many files", many(101), tools.BadInput, "Too many files (101). Maximum 100 files per operation."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Files: patchFiles()})
			rt.Mem.Put(".env", "KEY=1\n")
			rt.Mem.Put("bin", "a\n\x00")
			rt.Mem.Put("long", "package x\nfunc twoPart(a, b int) {\n}\n")
			rt.Mem.Link("link", "other")
			rt.Mem.Link("plain", ".env")
			rt.Mem.Link("away", "d.txt")
			failure := fail(t, rt, "apply_patch", map[string]any{"patch": tt.patch})
			if failure.Kind != tt.kind || !strings.Contains(failure.Error(), tt.mention) {
				t.Errorf("error = %s: %v; want %s with %q", failure.Kind, failure, tt.kind, tt.mention)
			}
			if strings.Contains(tt.name, "secret") && (failure.Code != "reading-secret-file" || strings.Contains(failure.Error(), "KEY=1")) {
				t.Errorf("error = %+v, want code reading-secret-file and nothing of the secret", failure)
			}
			if written := rt.Mem.Writes(); len(written) > 0 {
				t.Errorf("wrote %v", written)
			}
		})
	}
}

// many creates n files.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "*** Add File: many/%d\n+x\n", i)
	}
	return b.String()
}

func TestApplyPatch_Limits(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	run(t, rt, "apply_patch", map[string]any{"patch": many(100)})

	limits := tools.CanonicalLimits()
	limits.FileBytes = 60
	rt = tooltest.New(tooltest.Options{Files: map[string]string{"f": strings.Repeat("a", 55) + "\n"}, Limits: &limits})
	failure := fail(t, rt, "apply_patch", map[string]any{"patch": "*** Update File: f\n+bbbbbbbb\n"})
	if want := "File /test-workspace/f exceeds size limit (65 > 60)"; failure.Message != want {
		t.Errorf("error = %q, want %q", failure.Message, want)
	}
}

// A write that fails takes the earlier ones back, in every place.
func TestApplyPatch_RollsBack(t *testing.T) {
	t.Parallel()
	faults := []struct{ op, path string }{
		{tooltest.OpWrite, "m.txt"}, {tooltest.OpRemove, "d.txt"}, {tooltest.OpWrite, "r.txt"}, {tooltest.OpRename, "r.txt"},
	}
	for _, fault := range faults {
		t.Run(fault.op+" "+fault.path, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Files: patchFiles()})
			rt.Mem.Fail(fault.op, fault.path, tools.Errorf(tools.Backend, "the disk is full"))
			failure := fail(t, rt, "apply_patch", map[string]any{"patch": everything})
			if failure.Kind != tools.Backend || !strings.Contains(failure.Message, "nothing was changed: the disk is full") {
				t.Errorf("error = %v", failure)
			}
			if diff := cmp.Diff(patchFiles(), tree(rt, "m.txt", "d.txt", "r.txt", "other", "new/n.txt", "to/r.txt")); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplyPatch_RollbackFails(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: patchFiles()})
	rt.Mem.Fail(tooltest.OpRename, "r.txt", errors.New("the disk is full"))
	rt.Mem.Fail(tooltest.OpRestore, "m.txt", errors.New("the disk is broken"))
	failure := fail(t, rt, "apply_patch", map[string]any{"patch": everything})
	if failure.Kind != tools.Backend || !strings.Contains(failure.Message, "Not all that was changed before could be put back: restore /test-workspace/m.txt") {
		t.Errorf("error = %v, want one that names what is left", failure)
	}
	if got, _ := rt.Mem.Get("d.txt"); got != "gone\n" {
		t.Errorf("d.txt = %q, want it back", got)
	}
}

// A file that changes between the reading and the writing is not overwritten,
// and what was written before it is taken back.
func TestApplyPatch_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: patchFiles()})
	rt.Mem.BeforeWrite(func(path string) {
		if path == "/test-workspace/m.txt" {
			rt.Mem.Put("m.txt", "the user's\n")
		}
	})
	failure := fail(t, rt, "apply_patch", map[string]any{"patch": everything})
	if !strings.Contains(failure.Message, "nothing was changed") {
		t.Errorf("error = %v", failure)
	}
	want := patchFiles()
	want["m.txt"] = "the user's\n"
	if diff := cmp.Diff(want, tree(rt, "m.txt", "d.txt", "r.txt", "other", "new/n.txt")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// A call that is cancelled on its way leaves nothing changed.
func TestApplyPatch_Cancelled(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: patchFiles()})
	ctx, cancel := context.WithCancel(t.Context())
	rt.Mem.BeforeWrite(func(path string) {
		if path == "/test-workspace/m.txt" {
			cancel()
		}
	})
	_, err := rt.Run(ctx, tool(t, "apply_patch"), "apply_patch", encode(t, map[string]any{"patch": everything}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
	if diff := cmp.Diff(patchFiles(), tree(rt, "m.txt", "d.txt", "r.txt", "other", "new/n.txt")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// untracked is a runtime that cannot take changes back.
type untracked struct{ *tooltest.Runtime }

func (untracked) Services() tools.Services { return tools.Services{} }

func TestApplyPatch_Untracked(t *testing.T) {
	t.Parallel()
	rt := untracked{tooltest.New(tooltest.Options{Files: patchFiles()})}
	call := func(patch string) error {
		_, err := tool(t, "apply_patch").Run(t.Context(), rt, tools.NewArgs(encode(t, map[string]any{"patch": patch})))
		return err
	}
	err := call(everything)
	if failure, ok := errors.AsType[*tools.Error](err); !ok || failure.Kind != tools.Unavailable || len(rt.Mem.Writes()) > 0 {
		t.Errorf("several files: %v, wrote %v", err, rt.Mem.Writes())
	}
	if err := call("*** Update File: other\n@@\n-o\n+p\n"); err != nil {
		t.Errorf("one file: %v", err)
	}
}

// Every path is judged and locked by itself, both names of a rename (R102, R116).
func TestApplyPatch_Resources(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: patchFiles()})
	args := json.RawMessage(encode(t, map[string]any{"patch": "rename from r.txt\nrename to /elsewhere/r.txt\n--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-a\n+b\n"}))
	var resources []tools.Resource
	var keys []tools.ResourceKey
	for _, path := range []string{"/test-workspace/r.txt", "/elsewhere/r.txt", "/test-workspace/m.txt"} {
		resources = append(resources, tools.Resource{Kind: tools.PathRead, Value: path},
			tools.Resource{Kind: tools.PathWrite, Value: path, Deletes: path == "/test-workspace/r.txt"})
		keys = append(keys, tools.ResourceKey{Key: path, Write: true})
	}
	if diff := cmp.Diff(resources, tool(t, "apply_patch").Resources(tools.NewArgs(args), rt.Sess.Env)); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(keys, tool(t, "apply_patch").Profile.Keys(tools.NewArgs(args), rt.Sess.Env)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// The unsaved text of the editor is what is patched.
func TestApplyPatch_Editor(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: patchFiles(), Editor: map[string]string{"other": "unsaved\n"}})
	run(t, rt, "apply_patch", map[string]any{"patch": "*** Update File: other\n@@\n-unsaved\n+patched\n"})
	if got, _ := rt.Mem.Get("other"); got != "patched\n" {
		t.Errorf("file = %q", got)
	}
}
