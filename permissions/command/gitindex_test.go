package command_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/command"
)

// gitIn returns a function that runs git in a new repository and gives its output.
func gitIn(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "git is not installed")
	}
	dir = t.TempDir()
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", ".")
	return dir, git
}

func putFile(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGitIndex holds the reader to what git itself lists, in each version of the index,
// and lets it refuse the forms that are not whole in one file.
func TestGitIndex(t *testing.T) {
	names := []string{"a", "ab", "abc/d", "abc/.env", "b with blank", "é", strings.Repeat("long/", 40) + strings.Repeat("x", 200), "z/y/x/w", "z/y/x/wv", "z/y/b"}
	for _, version := range []string{"2", "3", "4"} {
		t.Run("version "+version, func(t *testing.T) {
			dir, git := gitIn(t)
			for _, name := range names {
				putFile(t, filepath.Join(dir, name))
			}
			git("add", ".")
			if version == "3" {
				putFile(t, filepath.Join(dir, "later"))
				git("add", "-N", "later") // needs the extended flags
			} else {
				git("update-index", "--index-version", version)
			}
			data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
			if err != nil || data[7] != version[0]-'0' {
				t.Fatalf("the index is of version %d, %v", data[7], err)
			}
			entries, err := command.GitIndex(data)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, e := range entries {
				got.WriteString(e.Name + "\x00")
			}
			if want := git("ls-files", "-z"); got.String() != want {
				t.Errorf("found %q, git lists %q", got.String(), want)
			}
			for _, n := range []int{0, 11, 40, len(data) / 2, len(data) - 21} {
				if _, err := command.GitIndex(data[:n]); err == nil {
					t.Errorf("the first %d of %d bytes are taken for an index", n, len(data))
				}
			}
		})
	}
	t.Run("split", func(t *testing.T) {
		dir, git := gitIn(t)
		putFile(t, filepath.Join(dir, ".env"))
		git("add", ".")
		git("update-index", "--split-index")
		data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := command.GitIndex(data); err == nil {
			t.Errorf("a split index is taken for whole, with %v", entries)
		}
	})
	t.Run("submodule", func(t *testing.T) {
		dir, git := gitIn(t)
		putFile(t, filepath.Join(dir, "a"))
		git("add", ".")
		git("commit", "-q", "-m", "x")
		git("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(git("rev-parse", "HEAD"))+",sub")
		data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		entries, err := command.GitIndex(data)
		if err != nil || len(entries) != 2 || entries[0].Submodule || !entries[1].Submodule {
			t.Errorf("found %v, %v", entries, err)
		}
	})
}

func FuzzGitIndex(f *testing.F) {
	entry := append(make([]byte, 62), "a\x00"...)
	entry[61] = 1
	index := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), append(entry, make([]byte, 20)...)...)
	f.Add(index)
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := command.GitIndex(data)
		if err == nil && !bytes.HasPrefix(data, []byte("DIRC")) {
			t.Fatalf("%d entries of what is no index", len(entries))
		}
		for _, e := range entries {
			if err == nil && (e.Name == "" || strings.Contains(e.Name, "\x00")) {
				t.Fatalf("an entry is named %q", e.Name)
			}
		}
	})
}

// TestJudge_GitDiff allows a diff of the working tree where nothing that git tracks has
// the name of a secret, and asks about every form that may reach into history.
func TestJudge_GitDiff(t *testing.T) {
	env := testEnv()
	env.GitHoldsSecret = func(string) bool { return false }
	for text, want := range map[string]bool{
		"git diff": true, "git diff -w": true, "git diff a": true, "git diff a b": true, "git diff -- src": true, "git --no-pager diff": true, "git diff -- '*.go'": true,
		"git diff HEAD": false, "git diff HEAD~1": false, "git diff main..x": false, "git diff main a": false, "git diff a main": false, "git diff main -- a": false,
		"git diff --cached": false, "git diff --staged a": false, "git diff --ext-diff": false, "git diff --textconv": false, "git diff --no-index a b": false,
		"git diff -- ':(glob).en?'": false, "git diff :a": false, "git diff --output=x": false, "git diff --submodule=log": false, "git diff -p": false, "git diff --merge-base": false,
		"git diff .env": false, "git diff -- ../x": false, "cd $X; git diff": false,
	} {
		if v := command.Judge(text, env); (v.Action == allow) != want {
			t.Errorf("%q is %s (%s)", text, v.Action, v.Reason)
		}
	}
	env.GitHoldsSecret = func(string) bool { return true }
	if v := command.Judge("git diff", env); v.Action != ask {
		t.Errorf("git diff over a tracked secret is %s", v.Action)
	}
}
