package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// stage is a pipeline over a real directory, with a user who answers.
type stage struct {
	*pipeline.Pipeline
	dir     string
	policy  *pipeline.Policy
	mu      sync.Mutex
	events  []transcript.Event
	asked   []tools.PermissionRequest
	answers []tools.Answer
	onAsk   func(tools.PermissionRequest)
	askErr  error
}

func (s *stage) Emit(e transcript.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

func (s *stage) Ask(_ context.Context, req tools.PermissionRequest) (tools.Answer, error) {
	s.mu.Lock()
	s.asked = append(s.asked, req)
	answer := tools.RejectOnce
	if n := len(s.asked) - 1; n < len(s.answers) {
		answer = s.answers[n]
	}
	s.mu.Unlock()
	if s.onAsk != nil {
		s.onAsk(req)
	}
	return answer, s.askErr
}

// pretended says that the machine was found to have a kind of sandbox.
func pretended(kind sandbox.Kind) run.Sandboxing {
	return run.Sandboxing{Box: &sandbox.Box{Probe: sandbox.NewProbe(func(context.Context) sandbox.Report {
		return sandbox.Report{Kind: kind, Network: kind != sandbox.None}
	})}}
}

func newStage(t *testing.T, edit func(*pipeline.Options), extra ...tools.Tool) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(append(builtin.All(), extra...)...)
	if err != nil {
		t.Fatal(err)
	}
	work, err := workspace.New(workspace.Options{
		SessionID:   "ses_test",
		Directories: workspace.Directories{Cwd: dir, State: filepath.Join(t.TempDir(), "state"), Home: t.TempDir()},
		Protection:  run.Protection{Secret: permissions.Secret},
		Commands:    run.Options{Sandbox: pretended(sandbox.Landlock)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { work.Close(0) })
	s := &stage{dir: dir}
	s.policy = pipeline.NewPolicy(permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...))
	o := pipeline.Options{
		Toolset: pipeline.Toolset{Registry: registry}, Judges: pipeline.Judges{Policy: s.policy, Asker: s},
		Session: &fakeSession{}, Workspace: work, Limits: tools.CanonicalLimits(),
	}
	if edit != nil {
		edit(&o)
	}
	s.Pipeline = pipeline.New(o)
	return s
}

func (s *stage) call(t *testing.T, name string, args any) transcript.ToolFinished {
	t.Helper()
	return s.callIn(t.Context(), t, name, args)
}

func (s *stage) callIn(ctx context.Context, t *testing.T, name string, args any) transcript.ToolFinished {
	t.Helper()
	input, ok := args.(string)
	if !ok {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		input = string(raw)
	}
	end := s.Run(ctx, s.Prepare(pipeline.Call{ID: "call_1", Name: name, Input: input}), s)
	if !end.State.Terminal() {
		t.Errorf("%s ended as %q, which is not terminal", name, end.State)
	}
	if (end.Result.Type == transcript.Output) != (end.State == transcript.Done) {
		t.Errorf("%s ended as %q with an envelope of type %q", name, end.State, end.Result.Type)
	}
	return end
}

func (s *stage) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

type object = map[string]any

func want(t *testing.T, end transcript.ToolFinished, state transcript.State, text string) {
	t.Helper()
	if end.State != state || !strings.Contains(end.Text, text) {
		t.Errorf("ended as %q with %q, want %q with %q", end.State, end.Text, state, text)
	}
}

func TestPipeline_FaultyCallsAreToolErrors(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		sessionOf(o).disabled = func(tool string) (string, bool) { return "Tool explicitly disabled", tool == "glob" }
	})
	tests := []struct {
		name, tool string
		args       any
		state      transcript.State
		text       string
	}{
		{"unknown tool", "reed", object{}, transcript.Failed, `unknown tool "reed"`},
		{"malformed JSON", "read", `{"path":`, transcript.Failed, "not valid JSON"},
		{"not an object", "read", `[1]`, transcript.Failed, "must be a JSON object"},
		{"missing argument", "read", object{}, transcript.Failed, `"path"`},
		{"wrong type", "read", object{"path": []any{7}}, transcript.Failed, `"path"`},
		{"unknown argument", "glob2", object{}, transcript.Failed, "glob"},
		{"disabled", "glob", object{"filePattern": "*"}, transcript.Rejected, "Tool explicitly disabled"},
		{"both names of an argument", "edit", object{"path": "a", "old_str": "a", "old_string": "b", "new_str": "c"}, transcript.Failed, "different values"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { want(t, s.call(t, test.tool, test.args), test.state, test.text) })
	}
	for _, tool := range s.Catalog() {
		if tool.Name == "glob" {
			t.Error("a disabled tool is in the catalogue")
		}
	}
}

func TestPipeline_AliasDoesNotEscapeADeny(t *testing.T) {
	s := newStage(t, nil)
	s.policy.Remember(permissions.Rule{Permission: "bash", Pattern: "*", Action: capability.Deny})
	for _, name := range []string{"bash", "Bash", "run_terminal_command"} {
		end := s.call(t, name, object{"command": "ls"})
		if end.State != transcript.Rejected || end.Result.Error.DeniedBy != "rule:session" {
			t.Errorf("%s ended as %q by %+v", name, end.State, end.Result.Error)
		}
	}
	if len(s.asked) > 0 {
		t.Errorf("a denied call was asked about")
	}
}

func TestPipeline_Answers(t *testing.T) {
	tests := []struct {
		name    string
		answers []tools.Answer
		askErr  error
		states  [2]transcript.State
		asked   int
	}{
		{"allow once", []tools.Answer{tools.AllowOnce, tools.AllowOnce}, nil, [2]transcript.State{transcript.Done, transcript.Done}, 2},
		{"allow always", []tools.Answer{tools.AllowAlways}, nil, [2]transcript.State{transcript.Done, transcript.Done}, 1},
		{"reject once", []tools.Answer{tools.RejectOnce, tools.AllowOnce}, nil, [2]transcript.State{transcript.Rejected, transcript.Done}, 2},
		{"reject always", []tools.Answer{tools.RejectAlways}, nil, [2]transcript.State{transcript.Rejected, transcript.Rejected}, 1},
		{"dismissed", []tools.Answer{tools.Cancelled, tools.AllowOnce}, nil, [2]transcript.State{transcript.Cancelled, transcript.Done}, 2},
		{"cannot be asked", []tools.Answer{tools.AllowOnce, tools.AllowOnce}, errors.New("no such method"), [2]transcript.State{transcript.Rejected, transcript.Rejected}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, nil)
			s.answers, s.askErr = test.answers, test.askErr
			for i, state := range test.states {
				end := s.call(t, "write", object{"path": "a.txt", "content": fmt.Sprint(i)})
				if end.State != state {
					t.Errorf("call %d ended as %q (%s), want %q", i, end.State, end.Text, state)
				}
			}
			if len(s.asked) != test.asked {
				t.Errorf("asked %d times, want %d", len(s.asked), test.asked)
			}
		})
	}
}

func TestPipeline_HeadlessAskIsDeny(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) { o.Asker = nil })
	end := s.call(t, "write", object{"path": "a.txt", "content": "x"})
	if end.State != transcript.Rejected || end.Result.Error.DeniedBy != permissions.DeniedByHeadless {
		t.Errorf("ended as %q by %+v", end.State, end.Result.Error)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file was written")
	}
}

func TestPipeline_AskShowsWhatWillRun(t *testing.T) {
	s := newStage(t, nil)
	path := s.write(t, "a.txt", "one\n")
	s.call(t, "Edit", object{"file_path": "a.txt", "old_string": "one", "new_string": "two"})
	if len(s.asked) != 1 {
		t.Fatalf("asked %d times", len(s.asked))
	}
	card := s.asked[0].Ready.Card
	diff, ok := card.Content[0].(kinds.Diff)
	if !ok || diff.Path != path || *diff.Old != "one\n" || diff.New != "two\n" {
		t.Errorf("the card shows %+v", card.Content)
	}
	if got, _ := os.ReadFile(path); string(got) != "one\n" {
		t.Errorf("the preview changed the file: %q", got)
	}
}

func TestPipeline_ChangedPreviewIsAskedAgain(t *testing.T) {
	s := newStage(t, nil)
	path := s.write(t, "a.txt", "one\n")
	s.answers = []tools.Answer{tools.AllowOnce, tools.AllowOnce}
	s.onAsk = func(tools.PermissionRequest) {
		if len(s.asked) == 1 {
			s.write(t, "a.txt", "zero\none\n")
		}
	}
	want(t, s.call(t, "edit", object{"path": "a.txt", "old_str": "one", "new_str": "two"}), transcript.Done, "")
	if len(s.asked) != 2 {
		t.Errorf("asked %d times, want again after the change", len(s.asked))
	}
	if got, _ := os.ReadFile(path); string(got) != "zero\ntwo\n" {
		t.Errorf("wrote %q", got)
	}
}

func TestPipeline_OutsideTheRoots(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "note.txt")
	if err := os.WriteFile(secret, []byte("far away\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("a read is asked, always opens the directory", func(t *testing.T) {
		s := newStage(t, nil)
		s.answers = []tools.Answer{tools.AllowAlways}
		want(t, s.call(t, "read", object{"path": secret}), transcript.Done, "far away")
		want(t, s.call(t, "read", object{"path": secret}), transcript.Done, "far away")
		if len(s.asked) != 1 {
			t.Errorf("asked %d times, want once", len(s.asked))
		}
	})
	t.Run("once is once", func(t *testing.T) {
		s := newStage(t, nil)
		s.answers = []tools.Answer{tools.AllowOnce, tools.RejectOnce}
		want(t, s.call(t, "read", object{"path": secret}), transcript.Done, "far away")
		want(t, s.call(t, "read", object{"path": secret}), transcript.Rejected, "")
	})
	t.Run("headless it is refused", func(t *testing.T) {
		s := newStage(t, func(o *pipeline.Options) { o.Asker = nil })
		want(t, s.call(t, "read", object{"path": secret}), transcript.Rejected, "")
	})
	t.Run("a write is a tool error that names the way", func(t *testing.T) {
		s := newStage(t, nil)
		s.answers = []tools.Answer{tools.AllowOnce}
		end := s.call(t, "write", object{"path": filepath.Join(outside, "x"), "content": "x"})
		if end.State == transcript.Done || !strings.Contains(end.Text, s.dir) || len(s.asked) > 0 {
			t.Errorf("ended as %q with %q after %d questions", end.State, end.Text, len(s.asked))
		}
	})
	t.Run("a command's directory is not negotiable", func(t *testing.T) {
		s := newStage(t, nil)
		s.answers = []tools.Answer{tools.AllowOnce}
		want(t, s.call(t, "bash", object{"cmd": "ls", "cwd": outside}), transcript.Rejected, "outside")
	})
}

func TestPipeline_SecretIsRefusedBeforeAnyQuestion(t *testing.T) {
	s := newStage(t, nil)
	s.write(t, ".env", "KEY=1\n")
	end := s.call(t, "read", object{"path": ".env"})
	if end.Result.ErrorText != "Refusing to read env file. Reading secrets is not permitted." || end.Result.Error.Code != "reading-secret-file" {
		t.Errorf("got %q, %+v", end.Result.ErrorText, end.Result.Error)
	}
}

// The permissions do not know the tools, so each has the text of its own.
func TestPipeline_SecretsAreRefusedInTheSameWords(t *testing.T) {
	if text := tools.SecretRefused("/w/.env").Error(); text != permissions.SecretReason {
		t.Errorf("the tools say %q and the permissions %q", text, permissions.SecretReason)
	}
}

// custom is a tool whose behaviour a test gives.
func custom(spec tools.Spec, run func(ctx context.Context, rt tools.Runtime) (*tools.Result, error)) tools.Tool {
	spec.ID, spec.Description = "custom", "A tool of a test."
	return tools.Define(spec, func(ctx context.Context, rt tools.Runtime, _ struct{}) (*tools.Result, error) { return run(ctx, rt) })
}

func customStage(t *testing.T, spec tools.Spec, run func(ctx context.Context, rt tools.Runtime) (*tools.Result, error)) *stage {
	s := newStage(t, nil, custom(spec, run))
	s.policy.Remember(permissions.Rule{Permission: "custom", Pattern: "*", Action: capability.Allow})
	return s
}

func TestPipeline_PanicIsAToolError(t *testing.T) {
	s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) { panic("oh") })
	want(t, s.call(t, "custom", object{}), transcript.Failed, "string: oh")
}

func TestPipeline_Timeout(t *testing.T) {
	t.Run("without progress", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := customStage(t, tools.Spec{}, func(ctx context.Context, _ tools.Runtime) (*tools.Result, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			want(t, s.call(t, "custom", object{}), transcript.Failed, "Tool execution timed out after 120 seconds")
		})
	})
	t.Run("progress restarts the clock", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := customStage(t, tools.Spec{}, func(ctx context.Context, rt tools.Runtime) (*tools.Result, error) {
				for range 5 {
					time.Sleep(100 * time.Second)
					rt.Progress([]byte("."))
				}
				return tools.Output("late but alive"), ctx.Err()
			})
			want(t, s.call(t, "custom", object{}), transcript.Done, "late but alive")
		})
	})
	t.Run("exempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := customStage(t, tools.Spec{DisableTimeout: true}, func(ctx context.Context, _ tools.Runtime) (*tools.Result, error) {
				time.Sleep(time.Hour)
				return tools.Output("done"), ctx.Err()
			})
			want(t, s.call(t, "custom", object{}), transcript.Done, "done")
		})
	})
	t.Run("a question does not count", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, nil)
			s.answers = []tools.Answer{tools.AllowOnce}
			s.onAsk = func(tools.PermissionRequest) { time.Sleep(time.Hour) }
			want(t, s.call(t, "write", object{"path": "a", "content": "x"}), transcript.Done, "")
		})
	})
}

func TestPipeline_CancelDoesNotWaitForATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var late bool
		s := customStage(t, tools.Spec{}, func(_ context.Context, rt tools.Runtime) (*tools.Result, error) {
			<-release
			rt.Progress([]byte("too late"))
			late = true
			return tools.Output("too late"), nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		want(t, s.callIn(ctx, t, "custom", object{}), transcript.Cancelled, "cancelled by the user")
		if took := time.Since(start) - time.Second; took > 200*time.Millisecond {
			t.Errorf("the answer came %s after the cancel", took)
		}
		// The next call starts only when the stray has gone.
		time.AfterFunc(time.Second, func() { close(release) })
		s.write(t, "a.txt", "text\n")
		want(t, s.call(t, "read", object{"path": "a.txt"}), transcript.Done, "text")
		if !late {
			t.Error("the next call did not wait for the stray")
		}
		for _, e := range s.events {
			if output, ok := e.(transcript.ToolOutput); ok {
				t.Errorf("output after the end of its call: %q", output.Text)
			}
		}
	})
}

func TestPipeline_AStrayDoesNotWedgeTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
			<-release
			return nil, nil
		})
		s.write(t, "a.txt", "text\n")
		want(t, s.call(t, "custom", object{}), transcript.Failed, "timed out")
		// The first call waits a moment for it; no one waits for it again.
		for _, wait := range []time.Duration{2 * time.Second, 0} {
			start := time.Now()
			want(t, s.call(t, "read", object{"path": "a.txt"}), transcript.Done, "text")
			if took := time.Since(start); took != wait {
				t.Errorf("the next call took %s, want %s", took, wait)
			}
		}
		close(release)
	})
}

func TestPipeline_WorkThatWasDoneIsNotCancelled(t *testing.T) {
	for name, partial := range map[string]bool{"done": false, "partial": true} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
				cancel()
				return &tools.Result{Data: "worked", Partial: partial}, nil
			})
			state := transcript.Done
			if partial {
				state = transcript.Cancelled
			}
			want(t, s.callIn(ctx, t, "custom", object{}), state, "worked")
		})
	}
}

func TestPipeline_PanicInAPreviewIsAToolError(t *testing.T) {
	spec := tools.Spec{Preview: func(context.Context, tools.Runtime, tools.Args) ([]kinds.Content, error) { panic("oh") }}
	s := customStage(t, spec, func(context.Context, tools.Runtime) (*tools.Result, error) { return nil, nil })
	want(t, s.call(t, "custom", object{}), transcript.Failed, "string: oh")
}

func TestPipeline_GeneralCap(t *testing.T) {
	for _, test := range []struct {
		size int
		cut  bool
	}{{102_400, false}, {102_401, true}} {
		s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
			return tools.Output(strings.Repeat("x", test.size)), nil
		})
		end := s.call(t, "custom", object{})
		marker := "\n\n[Tool result truncated: 100KB exceeds limit. Please refine the query.]"
		if got := strings.Contains(end.Text, marker); got != test.cut || end.Result.Metadata.Truncated != test.cut {
			t.Errorf("%d bytes: cut %v, truncated %v, want %v", test.size, got, end.Result.Metadata.Truncated, test.cut)
		}
		if !test.cut {
			continue
		}
		whole, err := os.ReadFile(end.Result.Metadata.OutputPath)
		if err != nil || len(whole) != test.size {
			t.Errorf("the sidecar holds %d bytes (%v), want %d", len(whole), err, test.size)
		}
		want(t, s.call(t, "read", object{"path": end.Result.Metadata.OutputPath, "byte_range": []int{0, 10}}), transcript.Done, "xxx")
		if len(s.asked) > 0 {
			t.Error("reading a sidecar was asked about")
		}
	}
}

func TestPipeline_WaitingAsksHeedAnAlways(t *testing.T) {
	s := newStage(t, nil)
	s.answers = []tools.Answer{tools.AllowAlways}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			end := s.Run(t.Context(), s.Prepare(pipeline.Call{ID: "c", Name: "write", Input: `{"path":"same.txt","content":"x"}`}), s)
			if end.State != transcript.Done {
				t.Errorf("ended as %q: %s", end.State, end.Text)
			}
		})
	}
	group.Wait()
	if len(s.asked) != 1 {
		t.Errorf("asked %d times, want once", len(s.asked))
	}
}

// watchFunc judges with a function.
type watchFunc func(watchdog.Call) (permissions.Decision, error)

func (w watchFunc) Judge(_ context.Context, call watchdog.Call) (permissions.Decision, error) {
	return w(call)
}

func TestPipeline_WatchdogOnlyNarrows(t *testing.T) {
	decide := func(action capability.Action) watchFunc {
		return func(watchdog.Call) (permissions.Decision, error) {
			return permissions.Decision{Action: action, Reason: "the watchdog says so"}, nil
		}
	}
	tests := []struct {
		name  string
		dog   watchFunc
		state transcript.State
		asked int
	}{
		{"allow lifts nothing", decide(capability.Allow), transcript.Done, 0},
		{"deny", decide(capability.Deny), transcript.Rejected, 0},
		{"ask", decide(capability.Ask), transcript.Rejected, 1},
		{"error", func(watchdog.Call) (permissions.Decision, error) {
			return permissions.Decision{}, errors.New("gone")
		}, transcript.Rejected, 0},
		{"panic", func(watchdog.Call) (permissions.Decision, error) { panic("oh") }, transcript.Rejected, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, func(o *pipeline.Options) { o.Watchdog = test.dog })
			s.write(t, "a.txt", "text\n")
			end := s.call(t, "read", object{"path": "a.txt"})
			if end.State != test.state || len(s.asked) != test.asked {
				t.Errorf("ended as %q after %d questions, want %q after %d", end.State, len(s.asked), test.state, test.asked)
			}
		})
	}
}

func TestPrepared_Conflicts(t *testing.T) {
	s := newStage(t, nil)
	s.write(t, "a.txt", "")
	if err := os.Symlink("a.txt", filepath.Join(s.dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	prepare := func(name string, args object) *pipeline.Prepared {
		raw, _ := json.Marshal(args)
		return s.Prepare(pipeline.Call{ID: name, Name: name, Input: string(raw)})
	}
	read := prepare("read", object{"path": "a.txt"})
	tests := []struct {
		name string
		a, b *pipeline.Prepared
		want bool
	}{
		{"two reads of one file", read, prepare("Read", object{"path": "./a.txt"}), false},
		{"read and write of one file", read, prepare("write", object{"path": filepath.Join(s.dir, "a.txt"), "content": ""}), true},
		{"the same file through a link", read, prepare("write", object{"path": "link.txt", "content": ""}), true},
		{"different files", read, prepare("write", object{"path": "b.txt", "content": ""}), false},
		{"a search above a write", prepare("grep", object{"pattern": "x"}), prepare("write", object{"path": "d/e", "content": ""}), true},
		{"a search beside a read", prepare("grep", object{"pattern": "x"}), read, false},
		{"a command is alone", prepare("bash", object{"cmd": "ls"}), read, true},
		{"a faulty call touches nothing", prepare("write", object{"path": "a.txt"}), read, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.a.Conflicts(test.b); got != test.want {
				t.Errorf("conflict %v, want %v", got, test.want)
			}
			if got := test.b.Conflicts(test.a); got != test.want {
				t.Errorf("the other way round %v, want %v", got, test.want)
			}
		})
	}
}
