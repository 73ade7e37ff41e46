package permissions

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/cases"
	"acp-agent/internal/testkit/testreq"
)

// What git would print of history is looked up by name before it is allowed: no file of
// secrets is among the names, and nothing is printed that is not a commit's (P8, R119).
func TestGitContent(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		testreq.Skip(t, "bubblewrap is not installed")
	}
	fixture := cases.NewFixture(t)
	fixture.Work = filepath.Join(fixture.Base, "history")
	if err := os.Mkdir(fixture.Work, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = fixture.Work
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("git init -qb main; echo KEY=hidden > .env; echo x > a.txt; git add -f .; git commit -qm one; git tag first")
	run("git rm -q --cached .env; rm .env; echo y >> a.txt; git commit -qam two; echo z > b.txt; git add .; git commit -qm three")
	run("git checkout -qb side HEAD~1; echo s > s.txt; git add .; git commit -qm side; git checkout -q main; git merge -q side -m merge; echo w >> a.txt")
	blob := run("git rev-parse first:.env; git tag blob first:.env >/dev/null")
	want := map[string]string{}
	for _, text := range []string{
		"git show HEAD", "git show", "git show HEAD~2:a.txt", "git show side -- s.txt", "git diff HEAD~1", "git diff HEAD~1..HEAD -- a.txt",
		"git diff main...side", "git diff --cached", "git diff -U5 HEAD -- a.txt", "git log -p -2", "git log -p -1 --oneline -- b.txt", "git show HEAD | head -5",
		"git show --format=%B HEAD",
	} {
		want[text] = "allow"
	}
	for _, text := range []string{
		"git show first", "git show first:a.txt HEAD", "git show " + blob, "git show HEAD " + blob, "git show blob", "git diff first", "git diff first..HEAD",
		"git diff " + blob + " a.txt", "git diff blob a.txt", "git diff HEAD:a.txt a.txt", "git log -p", "git log -p --follow a.txt", "git show HEAD^!",
		"git show --format=%GG HEAD", "git diff /etc/passwd /etc/hosts", "git stash show -p", "git show $X", "git diff --output=x HEAD~1", "git log -p --ext-diff",
	} {
		want[text] = "ask"
	}
	for _, text := range []string{"git show first:.env", "git diff HEAD -- .env", "git diff first:.env a.txt"} {
		want[text] = "deny"
	}
	var rows [][2]string
	for text := range want {
		rows = append(rows, [2]string{"", text})
	}
	for i, answer := range explain(t, fixture, "ask", true, commandsOf(rows, fixture.Work)) {
		if text := rows[i][1]; answer.Verdict != want[text] {
			t.Errorf("%q: %s (%s), want %s", text, answer.Verdict, answer.Reason, want[text])
		}
	}
}
