package run_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/worktest"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

func protecting(o *workspace.Options) {
	o.Commands.GitPrograms = command.GitConfigSettings
	o.Protection.Protected = func(path string) bool { return permissions.Protected(path) != permissions.Unprotected }
}

// changedAside runs a command that changes AGENTS.md and makes lefthook.yml, and returns
// what was moved aside.
func changedAside(t *testing.T, g *worktest.Fixture) (changed, made run.MovedAside) {
	t.Helper()
	worktest.Put(t, g.In("AGENTS.md"), "mine\n")
	call := g.Start(t)
	call.Commands().Grant(run.Grant{Unasked: true})
	exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: "echo theirs > AGENTS.md; mkdir -p a; echo hook > a/lefthook.yml"}, nil)
	if err != nil || exit.Code != 0 || len(exit.Notes) != 2 {
		t.Fatal(exit, err)
	}
	for _, a := range call.Commands().MovedAside() {
		if filepath.Base(a.Path) == "AGENTS.md" {
			changed = a
		} else {
			made = a
		}
	}
	worktest.Same(t, "put back", worktest.Get(t, g.In("AGENTS.md")), "mine\n")
	worktest.Same(t, "kept", worktest.Get(t, changed.Kept), "theirs\n")
	worktest.Same(t, "kept", worktest.Get(t, made.Kept), "hook\n")
	if _, err := os.Lstat(g.In("a/lefthook.yml")); err == nil {
		t.Error("what was made is still there")
	}
	if !changed.Text || *changed.Before != "mine\n" || changed.After != "theirs\n" || !made.Text || made.Before != nil || made.After != "hook\n" {
		t.Errorf("asides %+v %+v", changed, made)
	}
	return changed, made
}

// What was moved aside can be put in place, and is left where it is when the file was edited
// since.
func TestMovedAside_Restore(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, protecting)
	changed, made := changedAside(t, g)
	if err := errors.Join(changed.Restore(), made.Restore()); err != nil {
		t.Fatal(err)
	}
	worktest.Same(t, "restored", worktest.Get(t, g.In("AGENTS.md")), "theirs\n")
	worktest.Same(t, "restored", worktest.Get(t, g.In("a/lefthook.yml")), "hook\n")

	changed, made = changedAside(t, newFixtureAt(t, g))
	worktest.Put(t, g.In("AGENTS.md"), "edited\n")
	worktest.Put(t, g.In("a/lefthook.yml"), "edited\n")
	for _, a := range []run.MovedAside{changed, made} {
		if err := a.Restore(); !errors.Is(err, run.ErrEdited) {
			t.Errorf("%s: %v", a.Path, err)
		}
		worktest.Same(t, "edited", worktest.Get(t, a.Path), "edited\n")
	}
	worktest.Same(t, "still kept", worktest.Get(t, changed.Kept), "theirs\n")
	worktest.Same(t, "still kept", worktest.Get(t, made.Kept), "hook\n")
	if left, _ := filepath.Glob(g.In(".acp-agent-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// newFixtureAt is the fixture of a test as a command finds it once more.
func newFixtureAt(t *testing.T, g *worktest.Fixture) *worktest.Fixture {
	t.Helper()
	if err := os.RemoveAll(g.In("a")); err != nil {
		t.Fatal(err)
	}
	return g
}

// Whenever a user edits the file, in place or by renaming, their text is not lost: it
// stands in the file, or among what is kept.
func TestMovedAside_NoEditIsLost(t *testing.T) {
	t.Parallel()
	edits := map[string]func(path string) error{
		"in place": func(path string) error { return os.WriteFile(path, []byte("user\n"), 0o600) },
		"by renaming": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("user\n"), 0o600), os.Rename(path+".new", path))
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := worktest.New(t, protecting)
			for i := range 150 {
				worktest.Put(t, g.In("AGENTS.md"), "mine\n")
				watch := g.Runner().Watch()
				worktest.Put(t, g.In("AGENTS.md"), "theirs\n")
				start, done := make(chan struct{}), make(chan error, 1)
				go func() {
					<-start
					for range i % 20 {
						_, _ = os.Lstat(g.In("AGENTS.md"))
					}
					done <- edit(g.In("AGENTS.md"))
				}()
				close(start)
				watch.Compare()
				for _, a := range watch.MovedAside() {
					_ = a.Restore() // as if the user had said yes at once
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(everything(t, g), "user\n") {
					t.Fatalf("round %d: the edit is lost", i)
				}
				if err := os.RemoveAll(filepath.Join(g.State, "moved-aside")); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// everything is the text of the file and of all that is kept.
func everything(t *testing.T, g *worktest.Fixture) string {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(g.State, "moved-aside", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	text := worktest.Get(t, g.In("AGENTS.md"))
	for _, path := range kept {
		text += worktest.Get(t, path)
	}
	return text
}

// A name that was mounted read-only cannot have been changed by the command: a change there
// is the user's, unless the directory on the way is another one.
func TestMovedAside_MountedNamesAreTheUsers(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, protecting)
	worktest.Put(t, g.In("AGENTS.md"), "mine\n")
	worktest.Put(t, g.In("a/.vscode/tasks.json"), "mine\n")
	watch := g.Runner().Watch()
	paths := watch.Mount()
	if strings.Join(paths, " ") != g.In("AGENTS.md")+" "+g.In("a/.vscode") {
		t.Fatalf("mountable %q", paths)
	}
	worktest.Put(t, g.In("AGENTS.md"), "edited\n")
	worktest.Put(t, g.In("a/.vscode/tasks.json"), "edited\n")
	if notes := watch.Compare(); len(notes) != 0 {
		t.Errorf("notes %q", notes)
	}
	worktest.Same(t, "the user's", worktest.Get(t, g.In("AGENTS.md")), "edited\n")
	if err := os.Rename(g.In("a"), g.In("b")); err != nil {
		t.Fatal(err)
	}
	worktest.Put(t, g.In("a/.vscode/tasks.json"), "evil\n")
	watch.Compare()
	worktest.Same(t, "the command's", worktest.Get(t, g.In("a/.vscode/tasks.json")), "mine\n")
}
