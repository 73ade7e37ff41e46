package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// barrier is an editor whose reads wait until as many are in flight as the
// barrier is high, or no more can come.
type barrier struct {
	workspace.Editor
	height int

	mu             sync.Mutex
	open           chan struct{}
	inFlight, most int
}

func (b *barrier) CanRead() bool  { return true }
func (b *barrier) CanWrite() bool { return false }

func (b *barrier) ReadTextFile(_ context.Context, path string, _, _ int) (string, error) {
	b.mu.Lock()
	b.inFlight++
	b.most = max(b.most, b.inFlight)
	if b.inFlight == b.height {
		close(b.open)
		b.height = -1 // once
	}
	b.mu.Unlock()
	<-b.open
	b.mu.Lock()
	b.inFlight--
	b.mu.Unlock()
	text, err := os.ReadFile(path)
	return string(text), err
}

// grounded is a loop's tools over a real directory.
func grounded(t *testing.T, editor workspace.Editor) (dir string, tool *pipeline.Pipeline) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, err := workspace.New(workspace.Options{SessionID: "ses_t", Directories: workspace.Directories{Cwd: dir, State: filepath.Join(t.TempDir(), "state")}, Editor: workspace.Editing{Files: editor}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { work.Close(0) })
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	return dir, pipeline.New(pipeline.Options{
		Toolset: pipeline.Toolset{Registry: registry}, Workspace: work, Limits: tools.CanonicalLimits(),
		Judges: pipeline.Judges{Policy: pipeline.NewPolicy(permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeCode, false, builtin.Defaults())...))},
	})
}

// asks is a step that makes the given calls.
func asks(list ...[2]string) attempt {
	return func(_ context.Context, yield func(model.Chunk, error) bool) {
		for i, call := range list {
			yield(model.Chunk{Kind: model.ToolCall, Index: i, ID: fmt.Sprint(i), Name: call[0], Arguments: call[1]}, nil)
		}
		yield(model.Chunk{Kind: model.Finish, Reason: model.ToolCalls}, nil)
	}
}

// R101: of twenty reads in one step ten run at once and never more; the results
// are in the order of the calls (R22).
func TestTurn_TenReadsAtOnce(t *testing.T) {
	editor := &barrier{height: 10, open: make(chan struct{})}
	dir, tool := grounded(t, editor)
	var list [][2]string
	for i := range 20 {
		name := fmt.Sprintf("f%02d.txt", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		list = append(list, [2]string{"Read", fmt.Sprintf(`{"path":%q}`, name)})
	}
	b := newBench(asks(list...), says("done", model.Stop))
	if _, err := b.turn(t.Context(), "read", func(o *loop.Options) { o.Tools = tool }); err != nil {
		t.Fatal(err)
	}
	if editor.most != 10 {
		t.Errorf("%d reads were in flight at once, want 10", editor.most)
	}
	var got, want []string
	for i, call := range b.log.Messages()[1].Calls() {
		got = append(got, call.Text)
		want = append(want, fmt.Sprintf("1: f%02d.txt", i))
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 20 {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// meeting is an editor that gives the text of "a" to the second reader only when
// "c" is being read as well.
type meeting struct {
	workspace.Editor
	mu    sync.Mutex
	reads int
	c     chan struct{}
}

func (m *meeting) CanRead() bool  { return true }
func (m *meeting) CanWrite() bool { return false }

func (m *meeting) ReadTextFile(ctx context.Context, path string, _, _ int) (string, error) {
	switch filepath.Base(path) {
	case "c":
		close(m.c)
	case "a":
		m.mu.Lock()
		m.reads++
		second := m.reads == 2
		m.mu.Unlock()
		if second {
			select {
			case <-m.c:
			case <-time.After(time.Minute):
				return "", errors.New("c is not read beside the edit of a")
			}
		}
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// [Read A, Read B, Edit A, Read C] is two batches, [A, B] and [Edit A, C];
// nothing is moved past another.
func TestTurn_TwoBatches(t *testing.T) {
	dir, tool := grounded(t, &meeting{c: make(chan struct{})})
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(asks(
		[2]string{"Read", `{"path":"a"}`}, [2]string{"Read", `{"path":"./b"}`},
		[2]string{"edit_file", fmt.Sprintf(`{"path":%q,"old_str":"a","new_str":"z"}`, filepath.Join(dir, "a"))},
		[2]string{"Read", `{"path":"c"}`},
	), says("done", model.Stop))
	if _, err := b.turn(t.Context(), "go", func(o *loop.Options) { o.Tools = tool }); err != nil {
		t.Fatal(err)
	}
	calls := b.log.Messages()[1].Calls()
	for _, call := range calls {
		if call.State != transcript.Done {
			t.Errorf("%s ended as %q: %s", call.Name, call.State, call.Text)
		}
	}
	ended := map[string]bool{}
	for _, e := range b.events {
		switch e := e.(type) {
		case transcript.ToolState:
			second := e.CallID == calls[2].CallID || e.CallID == calls[3].CallID
			if second && e.State == transcript.InProgress && !(ended[calls[0].CallID] && ended[calls[1].CallID]) {
				t.Error("a call of the second batch began before the first batch had ended")
			}
		case transcript.ToolFinished:
			ended[e.CallID] = true
		}
	}
}
