package gitdir_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/testkit/testreq"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// repository makes a repository with a linked worktree beside it.
func repository(t *testing.T) (top, linked string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		testreq.Skip(t, "git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top, linked = filepath.Join(dir, "main"), filepath.Join(dir, "linked")
	write(t, filepath.Join(top, "src/deep/a"), "a\n")
	git(t, top, "init", "-q")
	git(t, top, "add", ".")
	git(t, top, "commit", "-qm", "x")
	git(t, top, "worktree", "add", "-q", linked)
	return top, linked
}

func TestFind(t *testing.T) {
	top, linked := repository(t)
	common := filepath.Join(top, ".git")
	own := gitdir.Repository{Top: top, Dir: common, Common: common}
	tree := gitdir.Repository{Top: linked, Dir: filepath.Join(common, "worktrees", "linked"), Common: common}
	for dir, want := range map[string]gitdir.Repository{
		top: own, filepath.Join(top, "src", "deep"): own, linked: tree, filepath.Join(linked, "src"): tree,
	} {
		if got, ok := gitdir.Find(dir); !ok || got != want {
			t.Errorf("Find(%s) = %+v, %v; want %+v", dir, got, ok, want)
		}
	}
	if own.Linked() || !tree.Linked() {
		t.Error("Linked mistakes one for the other")
	}
}

func TestOutside(t *testing.T) {
	top, linked := repository(t)
	for _, c := range []struct {
		dirs []string
		want int
	}{
		{[]string{top}, 0},
		{[]string{filepath.Join(top, "src")}, 1},
		{[]string{linked}, 1},
		{[]string{top, linked}, 0},
		{[]string{filepath.Join(top, "src"), filepath.Join(top, "src", "deep")}, 1},
		{[]string{filepath.Join(top, "src"), linked}, 2},
	} {
		if got := gitdir.Outside(c.dirs); len(got) != c.want {
			t.Errorf("Outside(%q) = %+v, want %d", c.dirs, got, c.want)
		}
	}
}

// What git finds and is none of the plain kinds is not taken for one.
func TestFind_Refused(t *testing.T) {
	top, linked := repository(t)
	dir := filepath.Dir(top)
	entry := filepath.Join(top, ".git", "worktrees", "linked")

	write(t, filepath.Join(dir, "copied", ".git"), "gitdir: "+entry+"\n") // which names another file
	write(t, filepath.Join(dir, "elsewhere", ".git"), "gitdir: ../own\n")
	write(t, filepath.Join(dir, "own", "config"), "")
	write(t, filepath.Join(dir, "text", ".git"), "anything")
	bare := filepath.Join(dir, "bare")
	git(t, dir, "init", "-q", "--bare", bare)
	write(t, filepath.Join(bare, "src", "a"), "")

	// A repository that says itself whose worktree it is, and is not called .git.
	made := filepath.Join(dir, "made")
	write(t, filepath.Join(made, ".git"), "gitdir: "+filepath.Join(dir, "store", "worktrees", "made")+"\n")
	write(t, filepath.Join(dir, "store", "worktrees", "made", "gitdir"), filepath.Join(made, ".git")+"\n")
	write(t, filepath.Join(dir, "store", "worktrees", "made", "commondir"), "../..\n")

	// A link to a repository, also to one that is in order.
	write(t, filepath.Join(dir, "link", "src", "a"), "")
	if err := os.Symlink(filepath.Join(top, ".git"), filepath.Join(dir, "link", ".git")); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"copied", "elsewhere", "text", "bare", "bare/src", "made", "link", "link/src"} {
		if got, ok := gitdir.Find(filepath.Join(dir, filepath.FromSlash(name))); ok {
			t.Errorf("Find(%s) = %+v", name, got)
		}
	}
	for name, text := range map[string]string{"objects": "", "HEAD": "nothing\n", "refs": ""} {
		broken := filepath.Join(top, "src", "broken", name)
		for _, part := range []string{"objects/x", "refs/x"} {
			write(t, filepath.Join(broken, ".git", filepath.FromSlash(part)), "")
		}
		write(t, filepath.Join(broken, ".git", "HEAD"), "ref: refs/heads/main\n")
		if text != "" {
			write(t, filepath.Join(broken, ".git", name), text)
		} else if err := os.RemoveAll(filepath.Join(broken, ".git", name)); err != nil {
			t.Fatal(err)
		}
		if got, ok := gitdir.Find(broken); ok {
			t.Errorf("git passes over a .git with a broken %s, and it was found: %+v", name, got)
		}
	}
	write(t, filepath.Join(entry, "commondir"), "../.. \n")
	if got, ok := gitdir.Find(linked); ok {
		t.Errorf("git takes the blank for a part of the name: %+v", got)
	}
	write(t, filepath.Join(entry, "commondir"), dir+"\n")
	if got, ok := gitdir.Find(linked); ok {
		t.Errorf("a worktree that is led to another repository: %+v", got)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	write(t, path, "text")
	if got, err := gitdir.Read(path, 4); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := gitdir.Read(path, 3); err == nil {
		t.Error("a file that is too large was read")
	}
	if _, err := gitdir.Read(dir, 10); err == nil {
		t.Error("a directory was read")
	}
}
