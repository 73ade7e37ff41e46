package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "git is not installed")
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func put(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("x=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What a command of the session adds to the index does not become readable by that, what
// leaves the index is secret again, and a repository deeper down says nothing.
func TestTracked_OnlyWhatWasTrackedAtFirst(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{".env.test", "a/.env.ci", ".env.dist", "deep/.env.test"} {
		put(t, in(name))
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".env.test", "a/.env.ci")
	git(t, in("deep"), "init", "-q")
	git(t, in("deep"), "add", ".env.test")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	known := &tracked{}
	known.setWorkspace(open(t, link, permissions.Secret), []string{link})
	check := func(when string, want map[string]bool) {
		t.Helper()
		for name, want := range want {
			if got := known.has(in(name)); got != want {
				t.Errorf("%s: has(%q) = %v", when, name, got)
			}
		}
	}
	check("at first", map[string]bool{".env.test": true, "a/.env.ci": true, ".env.dist": false, "deep/.env.test": false, ".ENV.TEST": false})
	if !known.has(filepath.Join(link, ".env.test")) {
		t.Error("the directory's own name does not count")
	}
	git(t, dir, "add", "-f", ".env.dist")
	check("added", map[string]bool{".env.test": true, ".env.dist": false})
	git(t, dir, "rm", "-q", "--cached", "a/.env.ci")
	check("removed", map[string]bool{".env.test": true, "a/.env.ci": false})
	git(t, dir, "add", "-f", "a/.env.ci")
	check("added again", map[string]bool{".env.test": true, "a/.env.ci": false})
	if err := os.WriteFile(in(".git/index"), []byte("broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("broken", map[string]bool{".env.test": false})
}

// What git was told not to look at, or has only the name of, is the user's own.
func TestTracked_NotWhatIsKeptLocal(t *testing.T) {
	for mark, args := range map[string][]string{
		"assumed": {"update-index", "--assume-unchanged", ".env.test"}, "skipped": {"update-index", "--skip-worktree", ".env.test"},
		"intended": {"rm", "-q", "--cached", ".env.test"},
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, ".env.test"))
		put(t, filepath.Join(dir, ".env.ci"))
		git(t, dir, "init", "-q")
		git(t, dir, "add", ".env.test", ".env.ci")
		git(t, dir, args...)
		if mark == "intended" {
			git(t, dir, "add", "-N", ".env.test")
		}
		known := &tracked{}
		known.setWorkspace(open(t, dir, permissions.Secret), []string{dir})
		if known.has(filepath.Join(dir, ".env.test")) || !known.has(filepath.Join(dir, ".env.ci")) {
			t.Errorf("%s: the file that is kept local counts as tracked, or another does not", mark)
		}
	}
}

func TestTracked_LooksBeforeTheFirstCommand(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ".env.test"))
	git(t, dir, "init", "-q")
	s, err := newSecrets(&Host{}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s.tracked.setWorkspace(open(t, dir, s.holds), []string{dir})
	s.masked(filepath.Join(dir, "main.go")) // as before a command
	git(t, dir, "add", "-f", ".env.test")
	if !s.holds(filepath.Join(dir, ".env.test")) {
		t.Error("a command made the file readable")
	}
}

func open(t *testing.T, dir string, secret func(string) bool) *workspace.Workspace {
	t.Helper()
	work, err := workspace.New(workspace.Options{SessionID: "ses_test", IDs: &transcript.IDs{}, Directories: workspace.Directories{Cwd: dir, State: filepath.Join(t.TempDir(), "state")}, Protection: run.Protection{Secret: secret}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { work.Close(0) })
	return work
}
