package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/internal/observe"
	"acp-agent/internal/resultcache"
	"acp-agent/internal/trace"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

func allow(tool string) permissions.Rule {
	return permissions.Rule{Permission: tool, Pattern: "*", Action: capability.Allow, Source: "test"}
}

// A tool reaches nothing that it did not declare, whatever it tries (R112).
func TestScope_BoundsATool(t *testing.T) {
	read := capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}"}}}
	docs := capability.RequirementSet{FS: capability.FS{Read: []string{"docs/**"}}}
	shell := capability.RequirementSet{Capabilities: []string{capability.CapShellRun}}
	net := capability.RequirementSet{Net: capability.Net{Hosts: []string{"*.example"}}}
	git := capability.RequirementSet{Shell: []capability.ShellRun{{Cmd: "git"}}}
	readFile := func(ctx context.Context, rt tools.Runtime) error {
		_, err := rt.FS().ReadText(ctx, "a.txt")
		return err
	}
	fetch := func(ctx context.Context, rt tools.Runtime) error {
		_, err := rt.Net().Do(ctx, tools.Request{URL: "https://docs.example/x"})
		return err
	}
	run := func(ctx context.Context, rt tools.Runtime) error {
		_, err := rt.Processes().Run(ctx, tools.ShellCommand{Text: "true", Dir: rt.Session().Cwd}, io.Discard)
		return err
	}
	exec := func(ctx context.Context, rt tools.Runtime) error {
		_, err := rt.Processes().Exec(ctx, tools.Program{Args: []string{"git", "status"}, Dir: rt.Session().Cwd}, io.Discard)
		return err
	}
	const refused, unavailable = "did not declare", "this session"
	tests := []struct {
		name     string
		requires capability.RequirementSet
		do       func(context.Context, tools.Runtime) error
		want     string // of the error; "" means none
	}{
		{"nothing declared, a file", capability.RequirementSet{}, readFile, refused},
		{"read declared", read, readFile, ""},
		{"another directory declared", docs, readFile, refused},
		{"empty scope", capability.RequirementSet{FS: capability.FS{Read: []string{"{ad-hoc}/**"}}}, readFile, refused},
		{"write with read declared", read, func(ctx context.Context, rt tools.Runtime) error {
			return rt.FS().WriteText(ctx, "a.txt", "x", nil)
		}, refused},
		{"remove with read declared", read, func(ctx context.Context, rt tools.Runtime) error {
			return rt.FS().Remove(ctx, "a.txt", nil)
		}, refused},
		{"host not declared", read, fetch, refused},
		{"host declared", net, fetch, unavailable},
		{"command not declared", net, run, refused},
		{"command declared", shell, run, unavailable},
		{"program not declared", read, exec, refused},
		{"program declared", git, exec, unavailable},
		{"program under shell.run", shell, exec, unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got error
			s := customStage(t, tools.Spec{Requires: tt.requires}, func(ctx context.Context, rt tools.Runtime) (*tools.Result, error) {
				got = tt.do(ctx, rt)
				return nil, nil
			})
			s.write(t, "a.txt", "text\n")
			s.call(t, "custom", object{})
			switch {
			case tt.want == "" && got != nil:
				t.Errorf("refused: %v", got)
			case tt.want != "" && (got == nil || !strings.Contains(got.Error(), tt.want)):
				t.Errorf("error %v, want one with %q", got, tt.want)
			}
		})
	}
}

// A new tool widens what the agent declares, with no change of its manifest
// (R112); an undefined variable fails at once and by name (R111).
func TestScope_Declared(t *testing.T) {
	tool := tooltest.NewMock("courier", "done").Tool
	tool.Requires = capability.RequirementSet{Net: capability.Net{Hosts: []string{"courier.example"}}}
	if declared := newStage(t, nil).Declared(); slices.Contains(declared.Net.Hosts, "courier.example") {
		t.Fatalf("declared without the tool: %v", declared.Net.Hosts)
	}
	s := newStage(t, nil, tool)
	if declared := s.Declared(); !slices.Contains(declared.Net.Hosts, "courier.example") {
		t.Errorf("declared: %v, want courier.example among them", declared.Net.Hosts)
	}
	if err := s.CheckVariables(); err != nil {
		t.Errorf("variables: %v", err)
	}
	s = newStage(t, func(o *pipeline.Options) {
		o.Requires = capability.RequirementSet{FS: capability.FS{Read: []string{"{worksapce}/x"}}}
	})
	if err := s.CheckVariables(); err == nil || !strings.Contains(err.Error(), "{worksapce}") {
		t.Errorf("error %v, want one that names {worksapce}", err)
	}
}

func TestConfine_TooManyFiles(t *testing.T) {
	writes := func(n int) tools.Spec {
		return tools.Spec{
			Requires: capability.RequirementSet{FS: capability.FS{Write: []string{"{workspace}"}}},
			Resources: func(_ tools.Args, env tools.Env) []tools.Resource {
				var list []tools.Resource
				for i := range n {
					list = append(list, tools.Resource{Kind: tools.PathWrite, Value: env.Abs(fmt.Sprintf("f%d", i))})
				}
				return list
			},
		}
	}
	run := func(context.Context, tools.Runtime) (*tools.Result, error) { return tools.Output("done"), nil }
	s := customStage(t, writes(101), run)
	want(t, s.call(t, "custom", object{}), transcript.Failed, "Too many files (101). Maximum 100 files per operation.")
	s = customStage(t, writes(100), run)
	want(t, s.call(t, "custom", object{}), transcript.Done, "done")
}

// R130: a hit while the file is as it was; stale after a touch, an edit that
// puts the time back, and a removal; never of a failure.
func TestCache(t *testing.T) {
	runs := 0
	var dir string
	tool := tools.Define(tools.Spec{
		ID: "custom", Description: "Custom.", ReadOnly: true, Cacheable: true,
		Requires: capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}"}}},
	}, func(ctx context.Context, rt tools.Runtime, _ struct{}) (*tools.Result, error) {
		runs++
		text, err := rt.FS().ReadText(ctx, "a.txt")
		if err != nil || !text.Exists {
			return nil, tools.Errorf(tools.BadInput, "no a.txt")
		}
		result := tools.Output(text.Content)
		result.Depends = []string{filepath.Join(dir, "a.txt")}
		return result, nil
	})
	denied := false
	s := newStage(t, func(o *pipeline.Options) {
		// A file that was changed a moment before its result was made is not
		// trusted, so the cache's clock is ahead.
		o.Cache, _ = resultcache.New(resultcache.Options{Now: func() time.Time { return time.Now().Add(time.Minute) }})
		o.Watchdog = judgeFunc(func() permissions.Decision {
			if denied {
				return permissions.Decision{Action: capability.Deny, Reason: "denied by a test"}
			}
			return permissions.Decision{Action: capability.Allow}
		})
		o.Policy.Remember(allow("custom"))
	}, tool)
	dir = s.dir
	path := filepath.Join(dir, "a.txt")
	call := func(wantRuns int, state transcript.State, text string) {
		t.Helper()
		want(t, s.call(t, "custom", object{}), state, text)
		if runs != wantRuns {
			t.Errorf("the tool ran %d times, want %d", runs, wantRuns)
		}
	}
	call(1, transcript.Failed, "no a.txt")
	call(2, transcript.Failed, "no a.txt")
	s.write(t, "a.txt", "one")
	call(3, transcript.Done, "one")
	call(3, transcript.Done, "one")
	denied = true
	call(3, transcript.Rejected, "denied by a test") // a hit skips no permission
	denied = false
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "a.txt", "two")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil { // trap 36
		t.Fatal(err)
	}
	call(4, transcript.Done, "two")
	call(4, transcript.Done, "two")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	call(5, transcript.Failed, "no a.txt")
}

func TestBus_EveryCallBeginsAndEndsOnce(t *testing.T) {
	bus := observe.New(nil)
	var got []string
	bus.Subscribe("test", func(e observe.Event) { got = append(got, e.Name+" "+e.CallID+" "+e.Tool) })
	bus.Subscribe("broken", func(observe.Event) { panic("oh") })
	bus.Contribute("read", func() []string { return []string{"read:started", "read:completed", "read:error"} })
	s := newStage(t, func(o *pipeline.Options) { o.Bus = bus })
	s.write(t, "a.txt", "text\n")
	s.call(t, "read", object{"path": "a.txt"})
	s.call(t, "read", object{"path": "none.txt"})
	s.call(t, "glob", object{"wrong": 1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := bus.Close(ctx); err != nil {
		t.Fatal(err)
	}
	wanted := []string{
		"tool:pre call_1 read", "read:started call_1 read", "tool:post call_1 read", "read:completed call_1 read",
		"tool:pre call_1 read", "read:started call_1 read", "tool:error call_1 read", "read:error call_1 read",
		"tool:pre call_1 glob", "tool:error call_1 glob",
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTrace_SpansWithoutContents(t *testing.T) {
	var log bytes.Buffer
	s := newStage(t, func(o *pipeline.Options) { o.Tracer = trace.New(slog.New(slog.NewTextHandler(&log, nil))) })
	s.write(t, "a.txt", "the content\n")
	s.call(t, "read", object{"path": "a.txt"})
	for _, part := range []string{"tool.call", "permission.evaluate", "gen_ai.operation.name=execute_tool", "gen_ai.tool.name=read", "gen_ai.tool.call.id=call_1"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the trace has no %s:\n%s", part, log.String())
		}
	}
	for _, secret := range []string{"the content", "a.txt"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the trace holds %q:\n%s", secret, log.String())
		}
	}
}

// judgeFunc is a watchdog made of a function.
type judgeFunc func() permissions.Decision

func (f judgeFunc) Judge(context.Context, watchdog.Call) (permissions.Decision, error) {
	return f(), nil
}

// A deny of reading holds for a search that comes by the file, too.
func TestRules_DenyHoldsForSearches(t *testing.T) {
	s := newStage(t, nil)
	for _, name := range []string{"private", "public"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		s.write(t, filepath.Join(name, "x.txt"), "TOP line\n")
	}
	s.policy.Remember(permissions.Rule{Permission: capability.CapFSRead, Pattern: "private/**", Action: capability.Deny, Source: "test"})
	want(t, s.call(t, "read", object{"path": "private/x.txt"}), transcript.Rejected, "private")
	end := s.call(t, "grep", object{"pattern": "TOP"})
	if end.State != transcript.Done || strings.Contains(end.Text, "private") || !strings.Contains(end.Text, "public/x.txt") {
		t.Errorf("grep ended as %q with %q", end.State, end.Text)
	}
	end = s.call(t, "glob", object{"filePattern": "**/*.txt"})
	if end.State != transcript.Done || strings.Contains(end.Text, "private") || !strings.Contains(end.Text, "public/x.txt") {
		t.Errorf("glob ended as %q with %q", end.State, end.Text)
	}
}

type languages []tools.CodeLocation

func (l languages) Any() bool { return true }

func (l languages) Ask(context.Context, tools.LanguageQuery) (*tools.LanguageAnswer, error) {
	return &tools.LanguageAnswer{Server: "test", Locations: l}, nil
}

// A language server leads to files, whose lines may not be read.
func TestRules_DenyHoldsForLinesOfAnswers(t *testing.T) {
	var known languages = make([]tools.CodeLocation, 2)
	s := newStage(t, func(o *pipeline.Options) { o.Services.Languages = known })
	known[0] = tools.CodeLocation{Path: s.write(t, "public.go", "package shown\n"), Line: 1, Column: 1}
	known[1] = tools.CodeLocation{Path: s.write(t, "gen.go", "package unseen\n"), Line: 1, Column: 1}
	s.policy.Remember(permissions.Rule{Permission: capability.CapFSRead, Pattern: "gen.go", Action: capability.Deny})
	s.policy.Remember(allow("lsp"))
	end := s.call(t, "lsp", object{"operation": tools.References, "path": "public.go", "line": 1, "column": 1})
	want(t, end, transcript.Done, "package shown")
	if !strings.Contains(end.Text, "gen.go") || strings.Contains(end.Text, "unseen") {
		t.Errorf("the places are %q", end.Text)
	}
}

// A file that may not be read is no secret: what may be written can be.
func TestRules_DenyOfReadingLeavesWriting(t *testing.T) {
	s := newStage(t, nil)
	for _, rule := range []permissions.Rule{
		{Permission: capability.CapFSRead, Pattern: "gen.txt", Action: capability.Deny}, allow("write"), allow("delete_file"),
	} {
		s.policy.Remember(rule)
	}
	path := s.write(t, "gen.txt", "old\n")
	want(t, s.call(t, "write", object{"path": "gen.txt", "content": "new\n"}), transcript.Done, "")
	if text, err := os.ReadFile(path); err != nil || string(text) != "new\n" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
	want(t, s.call(t, "delete_file", object{"path": "gen.txt"}), transcript.Done, "")
}
