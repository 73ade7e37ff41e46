package pipeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// steps counts what a workspace does.
type steps struct {
	mu     sync.Mutex
	counts map[workspace.Step]int
}

func (s *steps) count(step workspace.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[step]++
}

// costs is what one call costs at most.
type costs struct{ Resolutions, Parses, Reads int }

// What a call touches is resolved, parsed and read once for all that look at the call, and
// again only where it is used and after a question.
func TestPrepare_Shares(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, tool string
		args       map[string]any
		want       costs
	}{
		{"an edit that is asked about", "edit", map[string]any{"path": "a.go", "old_str": "two", "new_str": "2"}, costs{4, 2, 2}},
		{"a read", "read", map[string]any{"path": "a.go"}, costs{3, 2, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("one\ntwo\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			counted := &steps{counts: map[workspace.Step]int{}}
			work, err := workspace.New(workspace.Options{
				SessionID: "ses_once", Directories: workspace.Directories{Cwd: dir, State: filepath.Join(t.TempDir(), "state")},
				Protection: run.Protection{Secret: permissions.Secret}, Count: counted.count,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { work.Close(0) })
			s := newStage(t, func(o *pipeline.Options) { o.Workspace = work })
			s.answers = []tools.Answer{tools.AllowOnce}
			input, err := json.Marshal(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			c := s.Prepare(pipeline.Call{ID: "call_1", Name: tt.tool, Input: string(input)})
			if end := s.Run(t.Context(), c, s); end.State != transcript.Done {
				t.Fatalf("the call ended as %s: %s", end.State, end.Text)
			}
			got := costs{counted.counts[workspace.Resolution], c.Parses(), counted.counts[workspace.TextRead]}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("costs (-want +got):\n%s", d)
			}
		})
	}
}
