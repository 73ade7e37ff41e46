//go:build unix

package cases

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
)

// Fixture is the directory that the cases are about: a workspace with a clean repository,
// a directory outside of it, and a home, each with something that must not come out.
type Fixture struct{ Base, Work, Out, Home string }

// NewFixture makes one in a temporary directory.
func NewFixture(t testing.TB) Fixture {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "git is not installed")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := Fixture{base, filepath.Join(base, "work"), filepath.Join(base, "outside"), filepath.Join(base, "home")}
	f.commitFiles(t, git)
	// Touched and not changed, which git would like to note in its index.
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(f.Work, "README.md"), later, later); err != nil {
		t.Fatal(err)
	}
	f.putUntracked(t)
	return f
}

// put writes files, by their names below the base.
func (f Fixture) put(t testing.TB, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(f.Base, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// commitFiles makes the repository of the workspace, with two commits and a change that is in none.
func (f Fixture) commitFiles(t testing.TB, git string) {
	t.Helper()
	f.put(t, map[string]string{
		"work/README.md": "# Fixture\n\ntodo: nothing\n", "work/main.go": "package main\n\nfunc main() {}\n", "work/go.mod": "module x\n", "work/a b.txt": "x\n",
		"work/data.csv": "x,1\ny,2\nx,1\n", "work/package.json": `{"name":"x","scripts":{"test":"true"}}`, "work/src/main.go": "package main\n\nfunc util() {}\n",
		"work/src/util.go": "package main\n", "work/test/a_test.go": "package main\n", "work/.gitignore": ".env\nkeys\n", "work/.env.example": "KEY=\n", "work/script.sh": "touch RAN\n",
		"work/linked/main.go": "package main\n", "work/.env.test": "KEY=test\n",
	})
	run := func(args ...string) {
		cmd := exec.Command(git, args...)
		cmd.Dir = f.Work
		cmd.Env = append(os.Environ(), "HOME="+f.Home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=a@x")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q", "-b", "main", ".")
	run("add", ".")
	run("commit", "-q", "-m", "one")
	f.put(t, map[string]string{"work/src/util.go": "package main\n\nvar x = 1\n"})
	run("commit", "-q", "-a", "-m", "two")
	run("tag", "README.md") // a name that means a revision and a file
	f.put(t, map[string]string{"work/main.go": "package main\n\nfunc main() { util() }\n"})
}

// putUntracked makes what git does not track, and what lies outside the workspace.
func (f Fixture) putUntracked(t testing.TB) {
	t.Helper()
	f.put(t, map[string]string{
		"work/.env": "CANARY-INSIDE=1\n", "work/keys/server.pem": "CANARY-INSIDE\n", "work/evil/.git/config": "[core]\n\tfsmonitor = ./x.sh\n",
		"work/evil/.git/HEAD": "ref: refs/heads/main\n", "outside/file.txt": "CANARY-OUTSIDE\n", "home/.ssh/id_rsa": "CANARY-OUTSIDE\n",
		"home/.bashrc": "CANARY-OUTSIDE\n", "home/notes.txt": "CANARY-OUTSIDE\n",
		"home/config.jsonc": `{"model": {"api_key": "casekey-Of/9876543210-long"}, "web": {"hosts": ["docs.example.com", "example.org", "bücher.example"], "private": ["localhost:8080", "10.1.2.3:9000"]}}`,
	})
	if err := syscall.Mkfifo(filepath.Join(f.Work, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"work/out": f.Out, "work/secretlink": ".env", "work/link": "linked"} {
		if err := os.Symlink(to, filepath.Join(f.Base, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// Places fills the places of a case file in.
func (f Fixture) Places() *strings.Replacer {
	return strings.NewReplacer("@WORK@", f.Work, "@OUT@", f.Out, "@HOME@", f.Home)
}

// State is every file with its size, mode and time of change.
func (f Fixture) State(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(f.Base, func(name string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&b, name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
