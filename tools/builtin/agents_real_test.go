package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/undo/journal"
)

// crowd is many agents that one call delegated to, at work in one directory.
type crowd struct {
	*workspace.Workspace
	dir    string
	agents []*crowdAgent
}

// crowdAgent is one of them, with the real tools behind a pipeline of its own.
type crowdAgent struct {
	*pipeline.Pipeline
	name  string
	calls int
}

// crowdCall is the call that delegates.
const crowdCall = "call_task"

func newCrowd(t *testing.T, agents int, o workspace.Options) *crowd {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o.SessionID, o.Directories.Cwd, o.Directories.State = "ses_test", dir, filepath.Join(t.TempDir(), "state")
	c := &crowd{dir: dir}
	if c.Workspace, err = workspace.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(0) })
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range agents {
		name := fmt.Sprintf("main/agent_%02d", i)
		policy := pipeline.NewPolicy(permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...))
		for _, tool := range []string{"edit", "write"} {
			policy.Remember(permissions.Rule{Permission: tool, Pattern: "*", Action: capability.Allow, Source: "test"})
		}
		c.agents = append(c.agents, &crowdAgent{name: name, Pipeline: pipeline.New(pipeline.Options{
			Caller: pipeline.Caller{Agent: name}, Toolset: pipeline.Toolset{Registry: registry},
			Judges: pipeline.Judges{Policy: policy}, Limits: tools.CanonicalLimits(),
			Workspace: c.Delegate(workspace.Delegate{Agent: name, Parent: crowdCall}),
		})})
	}
	return c
}

func (a *crowdAgent) call(t *testing.T, tool string, args map[string]any) transcript.ToolFinished {
	t.Helper()
	a.calls++
	call := pipeline.Call{ID: fmt.Sprintf("%s call_%d", a.name, a.calls), Name: tool, Input: encode(t, args)}
	return a.Run(t.Context(), a.Prepare(call), transcript.Discard)
}

// put writes the files f0, f1 and so on with one text.
func (c *crowd) put(t *testing.T, files int, text string) (paths []string) {
	t.Helper()
	for i := range files {
		path := filepath.Join(c.dir, fmt.Sprintf("f%d", i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// unbroken asserts that each change of a file began with what the one before it had left,
// and the file holds what the last one left: no one wrote over what he had not seen.
func (c *crowd) unbroken(t *testing.T) {
	t.Helper()
	last := map[string]*[32]byte{}
	for i, change := range c.History().Changes(crowdCall) {
		if before := last[change.Path]; before != nil && (change.Before == nil || change.Before.Sum != *before) {
			t.Fatalf("change %d, of %s, did not begin with what the one before it had left", i, change.Path)
		}
		last[change.Path] = &change.After.Sum
	}
	call := c.Call("call_look", "read", nil)
	defer call.Finish()
	for path, sum := range last {
		text, err := call.FS().ReadText(t.Context(), path)
		if err != nil || journal.ContentOf(text.Content).Sum != *sum {
			t.Errorf("%s is not what its last change left: %v", path, err)
		}
	}
}

// Twenty agents, eight at a time, edit the same five files twenty times each: of two
// thousand edits none is lost, and each is its own agent's (R40, R41, R129). The short form
// has three edits of each.
func TestEdit_Agents(t *testing.T) {
	t.Parallel()
	const agents, atOnce, files = 20, 8, 5
	edits := testreq.Rounds(3, 20)
	var begin, end strings.Builder
	for i := range agents {
		fmt.Fprintf(&begin, "agent %02d:.\n", i)
		fmt.Fprintf(&end, "agent %02d:", i)
		for k := range edits {
			fmt.Fprintf(&end, " %d", k)
		}
		end.WriteString(".\n")
	}
	c := newCrowd(t, agents, workspace.Options{})
	paths := c.put(t, files, begin.String())
	running := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, agent := range c.agents {
		wg.Go(func() {
			running <- struct{}{}
			defer func() { <-running }()
			said := fmt.Sprintf("agent %02d:", i)
			for k := range edits {
				next := fmt.Sprintf("%s %d", said, k)
				for f := range paths {
					path := paths[(f+i)%files]
					if done := agent.call(t, "edit", map[string]any{"path": path, "old_str": said + ".", "new_str": next + "."}); done.State != transcript.Done {
						t.Errorf("%s: edit %d of %s ended as %s: %s", agent.name, k, path, done.State, done.Text)
						return
					}
				}
				said = next
			}
		})
	}
	wg.Wait()
	for _, path := range paths {
		if raw, err := os.ReadFile(path); err != nil || string(raw) != end.String() {
			t.Fatalf("%s: %v (-want +got):\n%s", path, err, cmp.Diff(end.String(), string(raw)))
		}
	}
	c.unbroken(t)
	by := map[string]int{}
	for _, o := range c.History().Operations() {
		by[o.Agent] += len(o.Changes)
	}
	for _, agent := range c.agents {
		if by[agent.name] != files*edits {
			t.Errorf("%d changes are those of %s", by[agent.name], agent.name)
		}
	}
	if diff := cmp.Diff(paths, c.History().Modified(crowdCall)); diff != "" || len(c.History().Changes(crowdCall)) != agents*files*edits {
		t.Errorf("%d changes of files (-want +got):\n%s", len(c.History().Changes(crowdCall)), diff)
	}
}

// Files are locked in the order of what they are, under whatever names.
func TestLockOrder(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 0, workspace.Options{})
	paths := c.put(t, 2, "x\n")
	link := filepath.Join(c.dir, "z")
	if err := os.Symlink("f0", link); err != nil {
		testreq.Skip(t, "symbolic links")
	}
	env := c.Session().Env
	for _, names := range [][]string{{paths[1], link}, {link, paths[1]}} {
		if diff := cmp.Diff([]string{link, paths[1]}, builtin.LockOrder(names, env)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// saver is an editor that saves what it is given.
type saver struct{}

func (saver) CanRead() bool  { return true }
func (saver) CanWrite() bool { return true }

func (saver) ReadTextFile(_ context.Context, path string, _, _ int) (string, error) {
	raw, err := os.ReadFile(path)
	return string(raw), err
}

func (saver) WriteTextFile(_ context.Context, path, content string) error {
	return os.WriteFile(path, []byte(content), 0o644)
}

// One agent overwrites whole files that others edit. An edit is made on the text
// that counts then, or refused because what it replaces is gone; it is never said to be
// made where it was not, on disk nor in an editor; and all of it is taken back with the
// call that delegated (R41, R128).
func TestEdit_AgentsAndWriter(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]workspace.Options{
		"on disk": {}, "in an editor": {Editor: workspace.Editing{Files: saver{}}},
	} {
		t.Run(name, func(t *testing.T) {
			const agents, files, edits, rounds = 6, 2, 10, 8
			var begin strings.Builder
			for i := range agents {
				fmt.Fprintf(&begin, "agent %02d: 0.\n", i)
			}
			c := newCrowd(t, agents+1, o)
			paths := c.put(t, files, begin.String())
			writer := c.agents[agents]
			overwrite := func(round int) {
				for _, path := range paths {
					text := fmt.Sprintf("round %d\n%s", round, begin.String())
					if done := writer.call(t, "write", map[string]any{"path": path, "content": text}); done.State != transcript.Done {
						t.Errorf("write ended as %s: %s", done.State, done.Text)
					}
				}
			}
			var mu sync.Mutex
			made := 0
			// edit takes each file of one agent a step on and says how many it found.
			edit := func(i int, at []int) (found int) {
				for f, path := range paths {
					done := c.agents[i].call(t, "edit", map[string]any{
						"path": path, "old_str": fmt.Sprintf("agent %02d: %d.", i, at[f]), "new_str": fmt.Sprintf("agent %02d: %d.", i, at[f]+1),
					})
					switch {
					case done.State == transcript.Done:
						at[f]++
						found++
						mu.Lock()
						made++
						mu.Unlock()
					case strings.Contains(done.Text, "old_str"):
						at[f] = 0 // written over; begin again
					default:
						t.Errorf("edit ended as %s: %s", done.State, done.Text)
					}
				}
				return found
			}
			steps := make([][]int, agents)
			var wg sync.WaitGroup
			for i := range steps {
				steps[i] = make([]int, files)
				wg.Go(func() {
					for range edits {
						edit(i, steps[i])
					}
				})
			}
			wg.Go(func() {
				for round := range rounds {
					overwrite(round)
				}
			})
			wg.Wait()
			c.unbroken(t)
			if changes := len(c.History().Changes(crowdCall)); changes != made+rounds*files {
				t.Errorf("%d changes, of %d edits and %d writes", changes, made, rounds*files)
			}
			// An agent cannot edit a file that another one has written over until it has read it again.
			for i := range steps {
				steps[i] = make([]int, files)
			}
			overwrite(rounds)
			for i := range steps {
				if edit(i, steps[i]) != files {
					t.Errorf("agent %d does not find what was written", i)
				}
			}
			overwrite(rounds + 1)
			for i := range steps {
				if edit(i, steps[i]) != 0 {
					t.Errorf("agent %d edited what is not there", i)
				}
			}
			c.unbroken(t)
			if failed := c.Rollback(t.Context(), crowdCall); len(failed) > 0 {
				t.Fatal(errors.Join(failed...))
			}
			for _, path := range paths {
				if raw, err := os.ReadFile(path); err != nil || string(raw) != begin.String() {
					t.Errorf("%s after the rollback: %v\n%s", path, err, raw)
				}
			}
		})
	}
}
