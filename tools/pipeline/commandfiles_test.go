package pipeline_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions"
	"acp-agent/tools/pipeline"
)

// TestExplain_Facts holds what the judge of commands is told of the disk: what git would
// show or run, and what a search of a directory would meet (C9, P8).
func TestExplain_Facts(t *testing.T) {
	path, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "git is not installed")
	}
	tests := []struct {
		name string
		set  func(t *testing.T, dir string, git func(...string), put func(name string))
		want map[string]string
	}{
		{"clean", nil, map[string]string{"git diff": "allow", "git status": "allow", "git diff a": "allow", "git diff HEAD": "ask", "git diff --cached": "ask", "grep -rn x src": "allow", "rg x src": "allow", "grep -rn x a": "allow"}},
		{"a secret is tracked", func(_ *testing.T, _ string, git func(...string), put func(string)) {
			put("deep/.env.local")
			git("add", ".")
		}, map[string]string{"git diff": "ask", "git diff -- a": "ask", "git status": "allow", "grep -rn x deep": "ask", "rg x deep": "allow", "rg --files deep": "allow", "rg --hidden x deep": "ask", "rg --no-ignore -. x deep": "ask", "grep -rn x src": "allow"}},
		{
			"a secret lies there", func(_ *testing.T, _ string, _ func(...string), put func(string)) { put("src/x/server.pem") },
			map[string]string{"git diff": "allow", "grep -rn x src": "ask", "rg x": "ask", "rg x src/main.go": "allow"},
		},
		{"a link to a secret", func(t *testing.T, dir string, _ func(...string), put func(string)) {
			put(".env")
			if err := os.Symlink(".env", filepath.Join(dir, "notes")); err != nil {
				t.Fatal(err)
			}
		}, map[string]string{"cat notes": "deny", "grep -n x notes": "deny", "head < notes": "deny"}},
		{
			"a split index", func(_ *testing.T, _ string, git func(...string), _ func(string)) {
				git("update-index", "--split-index")
			},
			map[string]string{"git diff": "ask", "git status": "ask"},
		},
		{"other object names", func(_ *testing.T, _ string, git func(...string), _ func(string)) {
			git("config", "extensions.objectFormat", "sha1")
		}, map[string]string{"git diff": "ask"}},
		{"a submodule that is there", func(_ *testing.T, _ string, git func(...string), put func(string)) {
			git("commit", "-q", "-m", "x")
			git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
			put("sub/.git/config")
		}, map[string]string{"git diff": "ask", "git status": "ask"}},
		{"a program in the configuration", func(_ *testing.T, _ string, git func(...string), _ func(string)) {
			git("config", "diff.x.textconv", "./x")
		}, map[string]string{"git diff": "ask", "git status": "ask", "git log": "ask"}},
		{"a directory that is a repository itself", func(_ *testing.T, _ string, _ func(...string), put func(string)) {
			for _, name := range []string{"HEAD", "config", "objects/x", "refs/x"} {
				put("src/bare/" + name)
			}
		}, map[string]string{"git status": "allow", "git -C src status": "allow", "git -C src/bare status": "ask", "cd src/bare && git log": "ask", "git -C src/bare/refs status": "ask"}},
		{"a password in an address", func(t *testing.T, dir string, git func(...string), put func(string)) {
			git("config", "remote.origin.url", "https://u:hunter2hunter2@example.com/x.git")
			if err := os.WriteFile(filepath.Join(dir, "src", ".gitmodules"), []byte("url = https://u:hunter2hunter2@example.com/x.git\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../.git/config", filepath.Join(dir, "src", "link")); err != nil {
				t.Fatal(err)
			}
			put("deep/main.go")
		}, map[string]string{
			"cat .git/config": "ask", "rev .git/config": "ask", "cut -d: -f3 src/link": "ask", "fold -w 5 src/.gitmodules": "ask", "git remote -v": "allow",
			"git remote -v | rev": "ask", "git remote | rev": "allow", "grep -rno x src": "ask", "grep -rno x deep": "allow", "git diff": "allow",
		}},
		{"a password in an address of a submodule", func(t *testing.T, dir string, git func(...string), _ func(string)) {
			if err := os.WriteFile(filepath.Join(dir, ".gitmodules"), []byte("[submodule \"s\"]\nurl = https://u:hunter2hunter2@example.com/x.git\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			git("add", ".gitmodules")
		}, map[string]string{"git diff": "ask", "cat .git/config": "allow", "git remote -v | rev": "allow"}},
		{"no repository", func(t *testing.T, dir string, _ func(...string), _ func(string)) {
			if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		}, map[string]string{"git diff": "ask", "git status": "ask"}},
		{"too much to look at", func(t *testing.T, dir string, _ func(...string), _ func(string)) {
			for i := range 5001 { // names of one file
				if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "src", fmt.Sprintf("f%d", i))); err != nil {
					t.Fatal(err)
				}
			}
		}, map[string]string{"grep -rn x src": "ask", "grep -n x src/f1": "allow"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, nil)
			git := func(args ...string) {
				t.Helper()
				cmd := exec.Command(path, args...)
				cmd.Dir = s.dir
				cmd.Env = append(os.Environ(), "HOME="+s.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			put := func(name string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				s.write(t, name, "x\n")
			}
			git("init", "-q", ".")
			put("a")
			put("src/main.go")
			git("add", ".")
			if tt.set != nil {
				tt.set(t, s.dir, git, put)
			}
			for text, want := range tt.want {
				e := s.Explain(t.Context(), pipeline.Call{Name: "bash", Input: fmt.Sprintf(`{"cmd":%q}`, text)})
				if e.Action.String() != want || e.Layer != permissions.LayerPolicy {
					t.Errorf("%q is %v by %s (%s), want %s", text, e.Action, e.Layer, e.Reason, want)
				}
			}
		})
	}
}
