package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
)

func protecting(o *Options) {
	o.GitPrograms = command.GitConfigSettings
	o.Protected = func(path string) bool { return permissions.Protected(path) != permissions.Unprotected }
}

// changedAside runs a command that changes AGENTS.md and makes lefthook.yml, and returns
// what was moved aside.
func changedAside(t *testing.T, g *ground) (changed, made Aside) {
	t.Helper()
	put(t, g.in("AGENTS.md"), "mine\n")
	call := g.call(t)
	call.Grant(Grant{Unasked: true})
	exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: "echo theirs > AGENTS.md; mkdir -p a; echo hook > a/lefthook.yml"}, nil)
	if err != nil || exit.Code != 0 || len(exit.Notes) != 2 {
		t.Fatal(exit, err)
	}
	for _, a := range call.Asides() {
		if filepath.Base(a.Path) == "AGENTS.md" {
			changed = a
		} else {
			made = a
		}
	}
	same(t, "put back", get(t, g.in("AGENTS.md")), "mine\n")
	same(t, "kept", get(t, changed.Kept), "theirs\n")
	same(t, "kept", get(t, made.Kept), "hook\n")
	if _, err := os.Lstat(g.in("a/lefthook.yml")); err == nil {
		t.Error("what was made is still there")
	}
	if !changed.Text || *changed.Before != "mine\n" || changed.After != "theirs\n" || !made.Text || made.Before != nil || made.After != "hook\n" {
		t.Errorf("asides %+v %+v", changed, made)
	}
	return changed, made
}

// What was moved aside can be put in place, and is left where it is when the file was edited
// since.
func TestAside_Restore(t *testing.T) {
	t.Parallel()
	g := newGround(t, protecting)
	changed, made := changedAside(t, g)
	if err := errors.Join(changed.Restore(), made.Restore()); err != nil {
		t.Fatal(err)
	}
	same(t, "restored", get(t, g.in("AGENTS.md")), "theirs\n")
	same(t, "restored", get(t, g.in("a/lefthook.yml")), "hook\n")

	changed, made = changedAside(t, newGroundAt(t, g))
	put(t, g.in("AGENTS.md"), "edited\n")
	put(t, g.in("a/lefthook.yml"), "edited\n")
	for _, a := range []Aside{changed, made} {
		if err := a.Restore(); !errors.Is(err, ErrEdited) {
			t.Errorf("%s: %v", a.Path, err)
		}
		same(t, "edited", get(t, a.Path), "edited\n")
	}
	same(t, "still kept", get(t, changed.Kept), "theirs\n")
	same(t, "still kept", get(t, made.Kept), "hook\n")
	if left, _ := filepath.Glob(g.in(".acp-agent-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// newGroundAt is the ground of a test as a command finds it once more.
func newGroundAt(t *testing.T, g *ground) *ground {
	t.Helper()
	if err := os.RemoveAll(g.in("a")); err != nil {
		t.Fatal(err)
	}
	return g
}

// Whenever a user edits the file, in place or by renaming, their text is not lost: it
// stands in the file, or among what is kept.
func TestAside_NoEditIsLost(t *testing.T) {
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
			g := newGround(t, protecting)
			for i := range 150 {
				put(t, g.in("AGENTS.md"), "mine\n")
				watch := g.guard(true, g.search(wanted{names: true}))
				put(t, g.in("AGENTS.md"), "theirs\n")
				start, done := make(chan struct{}), make(chan error, 1)
				go func() {
					<-start
					for range i % 20 {
						_, _ = os.Lstat(g.in("AGENTS.md"))
					}
					done <- edit(g.in("AGENTS.md"))
				}()
				close(start)
				watch.compare()
				for _, a := range watch.asides {
					_ = a.Restore() // as if the user had said yes at once
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(everything(t, g), "user\n") {
					t.Fatalf("round %d: the edit is lost", i)
				}
				if err := os.RemoveAll(filepath.Join(g.private.Parent(), asideName)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// everything is the text of the file and of all that is kept.
func everything(t *testing.T, g *ground) string {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(g.private.Parent(), asideName, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	text := get(t, g.in("AGENTS.md"))
	for _, path := range kept {
		text += get(t, path)
	}
	return text
}

// A name that was mounted read-only cannot have been changed by the command: a change there
// is the user's, unless the directory on the way is another one.
func TestAside_MountedNamesAreTheUsers(t *testing.T) {
	t.Parallel()
	g := newGround(t, protecting)
	put(t, g.in("AGENTS.md"), "mine\n")
	put(t, g.in("a/.vscode/tasks.json"), "mine\n")
	watch := g.guard(true, g.search(wanted{names: true}))
	paths := watch.mountable()
	if strings.Join(paths, " ") != g.in("AGENTS.md")+" "+g.in("a/.vscode") {
		t.Fatalf("mountable %q", paths)
	}
	watch.roots[0].mounted = true
	put(t, g.in("AGENTS.md"), "edited\n")
	put(t, g.in("a/.vscode/tasks.json"), "edited\n")
	if notes := watch.compare(); len(notes) != 0 {
		t.Errorf("notes %q", notes)
	}
	same(t, "the user's", get(t, g.in("AGENTS.md")), "edited\n")
	if err := os.Rename(g.in("a"), g.in("b")); err != nil {
		t.Fatal(err)
	}
	put(t, g.in("a/.vscode/tasks.json"), "evil\n")
	watch.compare()
	same(t, "the command's", get(t, g.in("a/.vscode/tasks.json")), "mine\n")
}
