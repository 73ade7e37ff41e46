package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/capability"
	"acp-agent/loop"
	"acp-agent/model/script"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// ground is a project with a store, and a user who answers.
type ground struct {
	t        *testing.T
	dir      string
	store    *projects.Store
	data     string
	settings session.Settings
	reading  func() // while the configuration is read
	explain  func(ctx context.Context, s *session.Session, what string) string
	answer   func(ctx context.Context, req tools.PermissionRequest) (tools.Answer, error)
	asked    []tools.PermissionRequest
}

func newGround(t *testing.T) *ground {
	t.Helper()
	dir, err := projects.Canonical(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	g := &ground{t: t, dir: dir, data: data, store: projects.New(data), settings: session.Settings{Limits: tools.CanonicalLimits()}}
	g.answer = func(context.Context, tools.PermissionRequest) (tools.Answer, error) { return tools.AllowOnce, nil }
	return g
}

func (g *ground) Ask(ctx context.Context, req tools.PermissionRequest) (tools.Answer, error) {
	g.asked = append(g.asked, req)
	return g.answer(ctx, req)
}

func (g *ground) put(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		g.t.Fatal(err)
	}
}

func (g *ground) open(model string) (*session.Session, *recorder) {
	g.t.Helper()
	loaded, err := script.Load("test", strings.NewReader(model))
	if err != nil {
		g.t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.Options{Checks: []builtin.Check{{Name: "lint", Cmd: "touch checked"}}}.All()...)
	if err != nil {
		g.t.Fatal(err)
	}
	provider := loaded.Provider(script.Options{})
	host := &session.Host{
		Backend: func() (session.Backend, error) { return session.Backend{Provider: provider, Model: "script"}, nil },
		IDs:     &transcript.IDs{}, Toolset: session.Toolset{Registry: registry}, Agents: session.Agents{Manifest: subagent.Main()},
		Machine: session.Machine{StateDir: filepath.Join(g.t.TempDir(), "state")},
		Configuration: session.Configuration{Configure: func(string) (session.Settings, error) {
			if g.reading != nil {
				g.reading()
			}
			return g.settings, nil
		}, Projects: g.store, Explain: g.explain},
		Privacy: session.Privacy{Secrets: func() []string { return nil }},
	}
	rec := newRecorder()
	s, err := host.Open(g.t.Context(), session.Spec{Cwd: g.dir, Client: session.Client{Sink: rec, Asker: g}})
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		s.Close(0)
		host.Close()
	})
	return s, rec
}

// inForce reports what the session's rules answer about a tool as a whole.
func inForce(s *session.Session, scope permissions.Scope, permission string) (found []capability.Action) {
	for _, l := range s.Rules() {
		if l.Scope == scope && l.Rule.Permission == permission {
			found = append(found, l.Rule.Action)
		}
	}
	return found
}

func trusted(s *session.Session) bool {
	return slices.Contains(inForce(s, permissions.DefaultScope, "check"), capability.Allow)
}

// TestProject_ModeDoesNotWait: a change of mode, which is made where messages are read,
// does not wait for a disk that is slow.
func TestProject_ModeDoesNotWait(t *testing.T) {
	g := newGround(t)
	s, _ := g.open(`{"say":"done"}`)
	reading, release := make(chan struct{}), make(chan struct{})
	g.reading = func() {
		close(reading)
		<-release
		g.reading = nil
	}
	g.put(".acp-agent/config.jsonc", "{}") // so that it is read again
	turn := prompt(s, "go")
	<-reading
	changed := make(chan error, 1)
	go func() { changed <- s.SetMode("code") }()
	select {
	case err := <-changed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the mode is not changed while the configuration is read")
	}
	close(release)
	wait(t, turn, loop.EndTurn)
	if !slices.ContainsFunc(s.Rules(), func(l session.ListedRule) bool {
		return l.Scope == permissions.DefaultScope && l.Rule.Permission == "edit" && strings.Contains(l.Rule.Pattern, capability.VarWorkspace)
	}) {
		t.Error("the rows of the mode are not in force")
	}
}

// TestTrust_Life follows trust through a session: given, kept by a change of mode, lost
// with the content, and with it what the project allows (T4).
func TestTrust_Life(t *testing.T) {
	g := newGround(t)
	g.put(".acp-agent/config.jsonc", "{}")
	g.settings.Rules.Offered = []permissions.Rule{{Permission: "edit", Action: capability.Allow}}
	g.settings.Rules.Project = []permissions.Rule{{Permission: "edit", Pattern: "secret", Action: capability.Deny}}
	s, rec := g.open(`{"say":"done"}` + "\n" + `{"say":"done"}`)
	check := func(when string, want bool) {
		t.Helper()
		edits := inForce(s, permissions.Project, "edit")
		if trusted(s) != want || slices.Contains(edits, capability.Allow) != want || !slices.Contains(edits, capability.Deny) {
			t.Errorf("%s: trusted %v, the project's rules %v, want %v", when, trusted(s), edits, want)
		}
	}
	check("at first", false)
	wait(t, prompt(s, "/trust"), loop.EndTurn)
	check("trusted", true)
	if len(g.asked) != 1 || g.asked[0].Choices == nil || g.asked[0].Remember != "" || g.asked[0].Project {
		t.Errorf("asked %+v, want two choices and no rule", g.asked)
	}
	for _, mode := range []string{"code", "ask"} {
		if err := s.SetMode(mode); err != nil {
			t.Fatal(err)
		}
		check("in mode "+mode, true)
	}
	other, _ := g.open(`{"say":"done"}`)
	if !trusted(other) {
		t.Error("another session does not heed it")
	}
	g.put(".acp-agent/config.jsonc", `{"a": 1}`)
	check("before the next prompt", true)
	wait(t, prompt(s, "go on"), loop.EndTurn)
	check("changed", false)
	rec.await(t, "word of it", noticed(".acp-agent/config.jsonc is changed"))
	g.put(".acp-agent/config.jsonc", "{}")
	wait(t, prompt(s, "/status"), loop.EndTurn)
	check("changed back", true)
	wait(t, prompt(s, "/trust off"), loop.EndTurn)
	check("taken back", false)
}

// TestTrust_OwnChange holds that trust ends within the turn in which the agent changes
// what it is bound to.
func TestTrust_OwnChange(t *testing.T) {
	g := newGround(t)
	s, _ := g.open(`{"call": [{"name": "write", "args": {"path": ".prettierrc", "content": "x"}}]}` + "\n" + `{"say":"done"}`)
	wait(t, prompt(s, "/trust"), loop.EndTurn)
	if !trusted(s) {
		t.Fatal("not trusted")
	}
	wait(t, prompt(s, "write it"), loop.EndTurn)
	if _, err := os.Stat(filepath.Join(g.dir, ".prettierrc")); err != nil || trusted(s) {
		t.Errorf("trusted %v after the agent wrote it (%v)", trusted(s), err)
	}
}

// TestTrust_GoneWithinATurn holds that a call which trust allows is asked about when the
// content changed since, no matter who changed it and when the session looked last.
func TestTrust_GoneWithinATurn(t *testing.T) {
	g := newGround(t)
	s, _ := g.open(`{"say":"done"}`)
	wait(t, prompt(s, "/trust"), loop.EndTurn)
	g.answer = func(context.Context, tools.PermissionRequest) (tools.Answer, error) { return tools.RejectOnce, nil }
	before := len(g.asked)
	if end := s.Call(t.Context(), "check", `{}`); end.State == transcript.Rejected || len(g.asked) != before {
		t.Fatalf("a trusted check ended as %s, %s", end.State, end.Text) // that there is no launcher is no matter
	}
	g.put(".clangd", "x")
	if end := s.Call(t.Context(), "check", `{}`); end.State != transcript.Rejected || len(g.asked) != before+1 {
		t.Errorf("after the change it ended as %s, asked %d times", end.State, len(g.asked)-before)
	}
}

// TestTrust_Answers holds that nothing but a yes to what was shown is one.
func TestTrust_Answers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(g *ground) (tools.Answer, error)
		want   bool
		says   string
	}{
		{"yes", func(*ground) (tools.Answer, error) { return tools.AllowOnce, nil }, true, "is trusted as it is now"},
		{"no", func(*ground) (tools.Answer, error) { return tools.RejectOnce, nil }, false, "is not trusted"},
		{"dismissed", func(*ground) (tools.Answer, error) { return tools.Cancelled, nil }, false, "is not trusted"},
		{"always", func(*ground) (tools.Answer, error) { return tools.AllowAlways, nil }, false, "is not trusted"},
		{"no way to ask", func(*ground) (tools.Answer, error) { return tools.AllowOnce, errors.New("no such method") }, false, "could not ask"},
		{"changed while they looked", func(g *ground) (tools.Answer, error) {
			g.put(".acp-agent/agents/a.md", "x")
			return tools.AllowOnce, nil
		}, false, "changed while you were looking"},
		{"replaced by a link while they looked", func(g *ground) (tools.Answer, error) {
			if err := os.Symlink(os.TempDir(), filepath.Join(g.dir, ".prettierrc")); err != nil {
				g.put(".prettierrc", "x") // where links cannot be made
			}
			return tools.AllowOnce, nil
		}, false, "is not trusted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGround(t)
			s, rec := g.open(`{"say":"done"}`)
			g.answer = func(context.Context, tools.PermissionRequest) (tools.Answer, error) { return tt.answer(g) }
			wait(t, prompt(s, "/trust"), loop.EndTurn)
			record, err := g.store.Load(g.dir)
			if err != nil || (record.Trust != nil) != tt.want || trusted(s) != tt.want || !strings.Contains(rec.text(), tt.says) {
				t.Errorf("trusted %v, stored %v, %v, said %q", trusted(s), record.Trust != nil, err, rec.text())
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		g := newGround(t)
		s, _ := g.open(`{"say":"done"}`)
		g.answer = func(ctx context.Context, _ tools.PermissionRequest) (tools.Answer, error) {
			s.Cancel()
			<-ctx.Done()
			return tools.AllowOnce, nil
		}
		wait(t, prompt(s, "/trust"), loop.Cancelled)
		if trusted(s) {
			t.Error("a cancelled question is a yes")
		}
	})
}

// TestProject_BrokenRecord holds that a record that cannot be read keeps no session from
// opening, grants nothing, and is said once.
func TestProject_BrokenRecord(t *testing.T) {
	g := newGround(t)
	rule := permissions.Rule{Permission: "edit", Pattern: "/x", Action: capability.Allow, Source: permissions.SourceAlways}
	if err := g.store.Update(g.dir, func(r *projects.Record) error { return r.AddRules(rule) }); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(g.data, "projects", "*.json"))
	if err != nil || len(files) != 1 || os.WriteFile(files[0], []byte("{"), 0o600) != nil {
		t.Fatalf("%v, %v", files, err)
	}
	s, rec := g.open(`{"say":"one"}` + "\n" + `{"say":"two"}`)
	wait(t, prompt(s, "go"), loop.EndTurn)
	wait(t, prompt(s, "go"), loop.EndTurn)
	if said := slices.DeleteFunc(rec.all(), func(e transcript.Event) bool { return !noticed("decide anew")(e) }); len(said) != 1 {
		t.Errorf("said %d times, want once", len(said))
	}
	if len(inForce(s, permissions.Project, "edit")) > 0 {
		t.Error("a rule of a broken record holds")
	}
}

// TestPermissions_Command holds the list and the numbers that revoke.
func TestPermissions_Command(t *testing.T) {
	g := newGround(t)
	g.settings.Rules.User = []permissions.Rule{{Permission: "bash", Pattern: "git push*", Action: capability.Deny, Source: "/home/ann/config.jsonc:3:4"}}
	rule := func(pattern string) permissions.Rule {
		return permissions.Rule{Permission: "edit", Pattern: pattern, Action: capability.Allow, Source: permissions.SourceAlways}
	}
	if err := g.store.Update(g.dir, func(r *projects.Record) error { return r.AddRules(rule("/w/a"), rule("/w/b")) }); err != nil {
		t.Fatal(err)
	}
	s, rec := g.open(`{"call": [{"name": "write", "args": {"path": "c.txt", "content": "x"}}]}` + "\n" + `{"say":"done"}`)
	g.answer = func(context.Context, tools.PermissionRequest) (tools.Answer, error) { return tools.AllowAlways, nil }
	wait(t, prompt(s, "write"), loop.EndTurn)
	wait(t, prompt(s, "/permissions"), loop.EndTurn)
	for _, want := range []string{
		"1. allow `edit(/w/a)`: project, kept for this project", "2. allow `edit(/w/b)`", "c.txt)`: session, your answer in this session, since 20",
		"- deny `bash(git push*)`: user, /home/ann/config.jsonc:3:4", "- ask `bash` `write`",
	} {
		if !strings.Contains(rec.text(), want) {
			t.Errorf("the list lacks %q:\n%s", want, rec.text())
		}
	}
	// Another process takes the first one back: the numbers mean the list that was shown.
	if err := g.store.Update(g.dir, func(r *projects.Record) error { r.RemoveRule(rule("/w/a")); return nil }); err != nil {
		t.Fatal(err)
	}
	wait(t, prompt(s, "/permissions revoke 1"), loop.EndTurn)
	wait(t, prompt(s, "/permissions revoke 3"), loop.EndTurn)
	wait(t, prompt(s, "/permissions revoke x"), loop.EndTurn)
	for _, want := range []string{"`edit(/w/a)` is no longer in force", "Revoked: allow `write(", "there is no rule with the number `x`"} {
		if !strings.Contains(rec.text(), want) {
			t.Errorf("said nothing of %q:\n%s", want, rec.text())
		}
	}
	var left []string
	for _, l := range s.Rules() {
		if l.Number > 0 {
			left = append(left, l.Rule.Pattern)
		}
	}
	if !slices.Equal(left, []string{"/w/b"}) {
		t.Errorf("left %q", left)
	}
	if err := s.Revoke(session.ListedRule{Scope: permissions.User, Rule: g.settings.Rules.User[0]}); err == nil || !strings.Contains(err.Error(), "config.jsonc:3:4") {
		t.Errorf("a rule of a file was revoked: %v", err)
	}
}

// TestPermissions_Explain holds that the text reaches the one who explains as it was
// typed, and that it is offered only where there is one.
func TestPermissions_Explain(t *testing.T) {
	g := newGround(t)
	s, rec := g.open(`{"say":"done"}`)
	wait(t, prompt(s, "/permissions explain git push"), loop.EndTurn)
	if text := rec.text(); !strings.Contains(text, "Usage:") || strings.Contains(text, "explain") {
		t.Errorf("without one it says %q", text)
	}
	g.explain = func(_ context.Context, _ *session.Session, what string) string { return "asked about [" + what + "]" }
	s, rec = g.open(`{"say":"done"}`)
	wait(t, prompt(s, " /permissions  explain  echo 'a  b'\nrm x"), loop.EndTurn)
	if want := "asked about [echo 'a  b'\nrm x]"; rec.text() != want {
		t.Errorf("said %q, want %q", rec.text(), want)
	}
	for _, command := range s.Commands() {
		if command.Name == "permissions" && !strings.Contains(command.Hint, "explain") {
			t.Errorf("the hint is %q", command.Hint)
		}
	}
}
