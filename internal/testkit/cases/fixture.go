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
	put := func(name, text string) {
		name = filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"README.md": "# Fixture\n\ntodo: nothing\n", "main.go": "package main\n\nfunc main() {}\n", "go.mod": "module x\n", "a b.txt": "x\n",
		"data.csv": "x,1\ny,2\nx,1\n", "package.json": `{"name":"x","scripts":{"test":"true"}}`, "src/main.go": "package main\n\nfunc util() {}\n",
		"src/util.go": "package main\n", "test/a_test.go": "package main\n", ".gitignore": ".env\nkeys\n", ".env.example": "KEY=\n", "script.sh": "touch RAN\n",
		"linked/main.go": "package main\n", ".env.test": "KEY=test\n",
	} {
		put("work/"+name, text)
	}
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
	put("work/src/util.go", "package main\n\nvar x = 1\n")
	run("commit", "-q", "-a", "-m", "two")
	run("tag", "README.md") // a name that means a revision and a file
	put("work/main.go", "package main\n\nfunc main() { util() }\n")
	// Touched and not changed, which git would like to note in its index.
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(f.Work, "README.md"), later, later); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"work/.env": "CANARY-INSIDE=1\n", "work/keys/server.pem": "CANARY-INSIDE\n", "work/evil/.git/config": "[core]\n\tfsmonitor = ./x.sh\n",
		"work/evil/.git/HEAD": "ref: refs/heads/main\n", "outside/file.txt": "CANARY-OUTSIDE\n", "home/.ssh/id_rsa": "CANARY-OUTSIDE\n",
		"home/.bashrc": "CANARY-OUTSIDE\n", "home/notes.txt": "CANARY-OUTSIDE\n",
		"home/config.jsonc": `{"model": {"api_key": "casekey-Of/9876543210-long"}, "web": {"hosts": ["docs.example.com", "example.org", "bücher.example"], "private": ["localhost:8080", "10.1.2.3:9000"]}}`,
	} {
		put(name, text)
	}
	if err := syscall.Mkfifo(filepath.Join(f.Work, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"work/out": f.Out, "work/secretlink": ".env", "work/link": "linked"} {
		if err := os.Symlink(to, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	return f
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
