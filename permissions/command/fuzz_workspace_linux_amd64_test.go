package command_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/shelltrace"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
)

// fuzzWorkspace is a workspace with a repository in which names mean several things, next to
// what must not come out.
type fuzzWorkspace struct{ base, work string }

func newFuzzWorkspace(t testing.TB) fuzzWorkspace {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := fuzzWorkspace{base, filepath.Join(base, "work")}
	for name, text := range map[string]string{
		"work/a": "one\ntwo\n", "work/b": "two\n", "work/src/main.go": "package main\n", "work/README.md": "CANARY-HISTORY\n", "work/.gitignore": ".env\nFIFO\n",
		"work/main.go": "package main\n", "work/go.mod": "module x\n", "work/data.csv": "x,1\ny,2\n", "work/package.json": `{"name":"x"}`, "work/src/util.go": "package main\n",
		"work/.env": "CANARY-SECRET=1\n", "outside": "CANARY-OUTSIDE\n", "home/.bashrc": "CANARY-HOME\n",
	} {
		name = filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g.git(t, "init", "-q", "-b", "main", ".")
	g.git(t, "add", ".")
	g.git(t, "commit", "-q", "-m", "one")
	g.git(t, "tag", "README.md")
	if err := os.WriteFile(filepath.Join(g.work, "README.md"), []byte("# Text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.git(t, "commit", "-q", "-a", "-m", "two")
	g.git(t, "config", "pretty.mine", "%G?")
	g.git(t, "config", "format.pretty", "%h %+G?")
	g.git(t, "config", "log.showSignature", "true")
	g.sign(t)
	if err := unix.Mkfifo(filepath.Join(g.work, "FIFO"), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g fuzzWorkspace) git(t testing.TB, args ...string) string {
	t.Helper()
	return g.gitWith(t, "", args...)
}

func (g fuzzWorkspace) gitWith(t testing.TB, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = g.work, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "HOME="+g.base, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=a@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// sign puts a signature on the last commit, which no program has made: only a commit with
// one makes git start the program that checks it.
func (g fuzzWorkspace) sign(t testing.TB) {
	t.Helper()
	header, message, _ := strings.Cut(g.git(t, "cat-file", "commit", "HEAD"), "\n\n")
	signed := header + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n" + message + "\n"
	g.git(t, "reset", "-q", "--hard", g.gitWith(t, signed, "hash-object", "-t", "commit", "-w", "--stdin"))
}

func (g fuzzWorkspace) env() command.Env {
	mode := func(name string) fs.FileMode {
		if info, err := os.Stat(name); err == nil {
			return info.Mode()
		}
		return fs.ModeIrregular
	}
	return command.Env{
		Cwd: g.work, Roots: []string{g.work}, Home: filepath.Join(g.base, "home"),
		Inside: func(name string) (string, bool) {
			resolved, err := filepath.EvalSymlinks(name)
			if err != nil {
				resolved = filepath.Clean(name)
			}
			return resolved, resolved == g.work || strings.HasPrefix(resolved, g.work+"/")
		},
		HoldsSecret: func(dir string, reads func(string) bool) bool {
			return reads == nil && !strings.HasPrefix(dir, filepath.Join(g.work, "src")) && dir != filepath.Join(g.work, "a")
		},
		GitHoldsSecret: func(string) bool { return false },
		Regular:        func(name string) bool { return mode(name).IsRegular() },
		List:           listIn(g.work),
		Script: func(name string) (string, bool) {
			text, err := os.ReadFile(name)
			return string(text), err == nil && mode(name).IsRegular()
		},
		Waits: func(name string) bool {
			m := mode(name)
			return m != fs.ModeIrregular && !m.IsRegular() && !m.IsDir()
		},
	}
}

// listIn is Env.List for one root.
func listIn(root string) func(string) ([]string, error) {
	return func(dir string) ([]string, error) {
		resolved, err := filepath.EvalSymlinks(dir)
		switch {
		case err != nil:
			return nil, err
		case resolved != root && !strings.HasPrefix(resolved, root+"/"):
			return nil, fs.ErrPermission
		}
		if info, err := os.Stat(resolved); err != nil || !info.IsDir() {
			return nil, fs.ErrNotExist
		}
		entries, err := os.ReadDir(resolved)
		names := make([]string, len(entries))
		for i, entry := range entries {
			names[i] = entry.Name()
		}
		return names, err
	}
}

// box is where texts run: the workspace is read-only, and attempts to write are seen.
func (g fuzzWorkspace) box(t testing.TB) shelltrace.Box {
	t.Helper()
	box := shelltrace.Box{
		Dir: g.work, Mounts: []string{"--ro-bind", g.base, g.base}, Limit: 10 * time.Second,
		Env: append([]string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(g.base, "home"), "LC_ALL=C.UTF-8"}, command.GitEnv()...),
		Reads: func(path string) bool {
			return strings.HasPrefix(path, g.work+"/") && !permissions.Secret(path) || path == g.work || !strings.HasPrefix(path, g.base)
		},
	}
	for name, path := range map[string]*string{"bwrap": &box.Bwrap, "bash": &box.Bash} {
		found, err := exec.LookPath(name)
		if err != nil {
			testreq.Skip(t, name+" is not installed")
		}
		*path = found
	}
	if results, err := box.Run([]string{"true"}); err != nil {
		testreq.Skip(t, "a command cannot be traced here: "+err.Error())
	} else if len(results[0].Offences) > 0 {
		t.Fatalf("true: %v", results[0].Offences)
	}
	return box
}

// offences says what a text that was allowed did beyond what its verdict names.
func offences(v command.Verdict, r shelltrace.Result) []string {
	found := slices.Clone(r.Offences)
	if r.Endless {
		found = append(found, "does not end")
	}
	if strings.Contains(r.Output, "CANARY") {
		found = append(found, "shows "+r.Output)
	}
	for _, program := range r.Programs {
		if !named(v, program) {
			found = append(found, "starts "+strings.Join(program, " "))
		}
	}
	return found
}

// named reports a program that the verdict names with exactly these arguments. Two names
// of grep are scripts that start it.
func named(v command.Verdict, program []string) bool {
	name := filepath.Base(program[0])
	return slices.ContainsFunc(v.Parts, func(p command.Part) bool {
		if len(p.Argv) == 0 {
			return false
		}
		script := name == "grep" && (p.Argv[0] == "egrep" || p.Argv[0] == "fgrep")
		return script || filepath.Base(p.Argv[0]) == name && slices.Equal(p.Argv[1:], program[1:])
	})
}
