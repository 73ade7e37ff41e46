package permissions

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testkit/cases"
	"acp-agent/internal/testkit/testreq"
)

// A linked worktree and a subdirectory of a repository are workspaces in which git is judged as
// in others; what it would print of files beside the workspace is asked about (R119).
func TestGitContent_OuterRepository(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bwrap"); err != nil {
		testreq.Skip(t, "bubblewrap is not installed")
	}
	fixture := cases.NewFixture(t)
	top := filepath.Join(fixture.Base, "outer", "main")
	if err := os.MkdirAll(top, 0o755); err != nil {
		t.Fatal(err)
	}
	git := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = top
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("git init -qb main; mkdir sub; echo x > sub/a; git add .; git commit -qm one; echo x > b; echo y > sub/a; git add .; git commit -qm two; git worktree add -q ../linked; echo z >> sub/a")
	reads := []string{"git status", "git log --oneline", "git diff", "git diff HEAD~1 -- .", "git log -p -1 -- .", "git branch -a", "git stash list"}
	judge := func(work string, texts, asked []string) map[string]string {
		t.Helper()
		fixture.Work = filepath.Join(fixture.Base, "outer", filepath.FromSlash(work))
		var rows [][]string
		for _, text := range texts {
			rows = append(rows, []string{"", text})
		}
		got := map[string]string{}
		unlike := func(i int, _ string) bool { return !slices.Contains(asked, texts[i]) }
		for i, answer := range explainLookups(t, fixture, "ask", commandsOf(rows, fixture.Work), unlike) {
			got[texts[i]] = answer.Verdict
		}
		return got
	}
	for work, asked := range map[string][]string{
		"main": nil, "linked": nil, "linked/sub": {"git show HEAD", "git -C .. status"}, "main/sub": {"git show HEAD", "git diff HEAD~1", "git log -p", "git -C .. status"},
	} {
		got := judge(work, append(asked, testreq.Pick(3, reads)...), asked)
		for text, verdict := range got {
			want := "allow"
			if slices.Contains(asked, text) {
				want = "ask"
			}
			if verdict != want {
				t.Errorf("in %s, %q: %s, want %s", work, text, verdict, want)
			}
		}
	}
	git("git config core.fsmonitor evil")
	for work := range map[string]bool{"linked": true, "main/sub": true} {
		for text, verdict := range judge(work, testreq.Pick(3, reads), reads) {
			if verdict != "ask" {
				t.Errorf("in %s of a repository that names a program, %q: %s", work, text, verdict)
			}
		}
	}
}

// What git would print of history is looked up by name before it is allowed: no file of
// secrets is among the names, and nothing is printed that is not a commit's (P8, R119).
func TestGitContent(t *testing.T) {
	t.Parallel()
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
	run("git checkout -qb other; mkdir kept; echo KEY=hidden > kept/.env; git add -f kept; git commit -qm kept; git checkout -q main")
	run("git rm -q --cached .env; rm .env; echo y >> a.txt; git commit -qam two; echo z > b.txt; git add .; git commit -qm three")
	run("git checkout -qb side HEAD~1; echo s > s.txt; git add .; git commit -qm side; git checkout -q main; git merge -q side -m merge; echo w >> a.txt")
	blob := run("git rev-parse first:.env; git tag blob first:.env >/dev/null")
	want := map[string]string{}
	for _, text := range []string{
		"git show HEAD", "git show", "git show HEAD~2:a.txt", "git show side -- s.txt", "git diff HEAD~1", "git diff HEAD~1..HEAD -- a.txt",
		"git diff main...side", "git diff --cached", "git diff -U5 HEAD -- a.txt", "git log -p -2", "git log -p -1 --oneline -- b.txt", "git show HEAD | head -5",
		"git show --format=%B HEAD", "git grep x", "git grep -n y HEAD -- a.txt", "git grep nowhere first", "git show --stat first", "git diff HEAD~1 -- . ':!b.txt'",
		"git diff nosuch", "git show kept --", "git diff kept -- a.txt", "git diff main...nosuch -- a.txt", "git diff nosuch.txt a.txt", "git show nosuch", "git show --stat nosuch", "git show first nosuch", "git log -p nosuch", "git grep x nosuch -- a.txt",
		"git log --oneline -S z", "git log -G nosuch -p", "git log -Gw --oneline -- a.txt", "git log -S KEY --oneline -- a.txt",
		"git show -s first", "git show --no-patch --format=%B first", "git show first --name-status", "git show --name-only HEAD~2 | head",
		"git blame a.txt", "git blame -w -L 1,1 first -- a.txt", "git blame HEAD~1 a.txt", "git annotate -C10 a.txt | tail -3", "git blame nosuch.txt",
	} {
		want[text] = "allow"
	}
	for _, text := range []string{
		"git show first", "git show first:a.txt HEAD", "git show " + blob, "git show HEAD " + blob, "git show blob", "git diff first", "git diff first..HEAD",
		"git diff " + blob + " a.txt", "git diff blob a.txt", "git diff HEAD:a.txt a.txt", "git log -p", "git log -p --follow a.txt", "git show HEAD^!",
		"git show --format=%GG HEAD", "git diff /etc/passwd /etc/hosts", "git stash show -p", "git show $X", "git diff --output=x HEAD~1", "git log -p --ext-diff",
		"git grep KEY first", "git grep KEY blob", "git grep KEY " + blob, "git show --stat blob", "git grep -v nowhere first",
		"git log -p kept", "git show kept", "git diff kept", "git diff nosuch kept", "git show -n 1 first", "git diff -n 1 first", "git log -p -n 5 first", "git log -S KEY", "git log --all --oneline -S hidden", "git log -S -- --ext-diff", "git log -S -- -p first", "git log --pickaxe-all -S z",
		"git show -s blob", "git show 'HEAD@{12:00}~1'", "git log -p 'HEAD@{12:00}'", "git stash show -p -u", "git stash show -u", "git blame --contents b.txt a.txt", "git blame -S b.txt a.txt", "git blame --ignore-revs-file=b.txt a.txt", "git blame --reverse first a.txt", "git blame /etc/passwd", "git blame a.txt b.txt side", "git blame first:a.txt", "git blame $X",
	} {
		want[text] = "ask"
	}
	for _, text := range []string{"git show first:.env", "git diff HEAD -- .env", "git diff first:.env a.txt", "git blame .env", "git blame first -- .env"} {
		want[text] = "deny"
	}
	var rows [][]string
	for _, text := range slices.Sorted(maps.Keys(want)) {
		rows = append(rows, []string{"", text})
	}
	rows = testreq.Pick(len(rows)/5, rows)
	unlike := func(i int, verdict string) bool { return verdict != want[rows[i][1]] }
	for i, answer := range explainLookups(t, fixture, "ask", commandsOf(rows, fixture.Work), unlike) {
		if text := rows[i][1]; answer.Verdict != want[text] {
			t.Errorf("%q: %s (%s), want %s", text, answer.Verdict, answer.Reason, want[text])
		}
	}
}

// In mode auto, what git would print of history is asked about where a file of secrets is, or may be, among it,
// in whichever form of git: the sandbox keeps no object of git from git itself (P8).
func TestGitContent_Auto(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bwrap"); err != nil {
		testreq.Skip(t, "bubblewrap is not installed")
	}
	fixture := cases.NewFixture(t)
	makeRepository := func(name, first string) {
		t.Helper()
		fixture.Work = filepath.Join(fixture.Base, name)
		cmd := exec.Command("sh", "-ec", "git init -qb main "+name+"; cd "+name+"; echo KEY=hidden > "+first+"; echo x > a.txt; git add -f .; git commit -qm one; git tag first; "+
			"git rm -q "+first+"; echo y >> a.txt; git commit -qam two; echo z > b.txt; git add .; git commit -qm three; echo w >> a.txt")
		cmd.Dir = fixture.Base
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	judge := func(want string, texts []string) {
		t.Helper()
		var rows [][]string
		for _, text := range testreq.Pick(8, texts) {
			rows = append(rows, []string{"", text})
		}
		unlike := func(_ int, verdict string) bool { return verdict != want }
		for i, answer := range explainLookups(t, fixture, "auto", commandsOf(rows, fixture.Work), unlike) {
			if answer.Verdict != want {
				t.Errorf("in %s, %q: %s (%s), want %s", filepath.Base(fixture.Work), rows[i][1], answer.Verdict, answer.Reason, want)
			}
		}
	}
	makeRepository("secret", ".env")
	judge("ask", gitPrintsHistory)
	judge("allow", gitPrintsOther)
	makeRepository("plain", "c.txt")
	judge("allow", gitPrintsHistory)
	judge("allow", gitPrintsOther)
	fixture.Work = filepath.Join(fixture.Base, "none")
	if err := os.Mkdir(fixture.Work, 0o755); err != nil {
		t.Fatal(err)
	}
	judge("allow", []string{"git show $X", "git log -p -M", "git cat-file --batch"})
}

// gitPrintsHistory lists commands that print what their repository's first commit holds, or may do so.
var gitPrintsHistory = []string{
	"git diff-tree -p HEAD~2 HEAD~1", "git diff-tree -p HEAD~1", "git diff-tree --root -p first", "git diff-index -p first", "git diff-index --cached -p first",
	"git format-patch --stdout first", "git format-patch -2", "git format-patch --root HEAD", "git whatchanged -p", "git log -p", "git log -p -M", "git log -u --cc", "git log -m -p",
	"git log -L1,1:a.txt", "git log --word-diff", "git log --pat", "git log -p --full-diff -- b.txt", "git log -p --diff-filter D", "git log $X", "git log -p $(git rev-parse HEAD)",
	"git show -M first", "git show first^{tree}", "git show $X", "git diff -M first", "git diff first > a.patch", "git diff $(git merge-base HEAD first)",
	"git cat-file -p first", "git cat-file blob $X", "git cat-file --batch", "echo first:a.txt | git cat-file --batch", "git rev-list --all | xargs git show",
	"git grep --color KEY first", "git grep KEY $(git rev-list --all)", "git reflog -p", "git range-diff first HEAD~1 HEAD", "git stash list -p", "git commit --amend -v -m x",
	"git merge-tree --trivial-merge HEAD first HEAD", "git -c core.pager=cat log -p", "git --paginate log -p", "for c in $(git rev-list --all); do git show $c; done", "bash -c 'git diff-tree -p HEAD~1'",
	"git rebase -x 'git log -p' first", "find . -name a.txt -exec git log -p {} +", "cd . && git log --patch-with-raw", "git for-each-ref '--format=%(raw)'", "git bisect view -p",
	"git show 'HEAD@{12:00}~1'", "git format-patch --stdout first -- .", "git format-patch --stdout --reverse first", "git range-diff HEAD~2..HEAD~1 HEAD~1..HEAD", "git diff HEAD~2 --src-prefix --no-index",
	"git -c log.follow=true log -p -1 -- a.txt", "git stash show -p -u", "git -c stash.showIncludeUntracked=true stash show -p",
	"git rev-list -p HEAD", "git checkout -q first && git show", "git branch b first && git diff b", "git tag x first; git log -p x", "for i in 1 2; do git show HEAD; git checkout -q first; done", "bash -c 'git switch -d first'; git log -p -1",
}

// gitPrintsOther lists commands that print nothing of that commit, but names and messages.
var gitPrintsOther = []string{
	"git diff-tree -p HEAD", "git diff-tree --name-only -r HEAD~1", "git diff-tree -p HEAD~1 HEAD", "git diff-index HEAD", "git diff-files -p", "git format-patch --stdout HEAD~1", "git format-patch -1",
	"git whatchanged -p -1", "git whatchanged", "git log --raw", "git log --oneline -p -1 -M", "git show -M HEAD", "git show --word-diff", "git show :a.txt", "git diff -M HEAD~1", "git diff --no-index a.txt b.txt",
	"git cat-file -p HEAD:a.txt", "git cat-file --batch-check --batch-all-objects", "git blame a.txt", "git blame HEAD -- a.txt", "git rev-list --objects --all",
	"git status -v", "git add -p", "git commit -v -m x", "git merge-tree HEAD first", "git log --stat -M > a.log", "git stash", "git rebase -x true first", "git commit -m \"$X\"",
	"git rev-list --count HEAD", "git add -A && git commit -m x && git log --oneline -3", "git status && git diff && git log -p -1",
}

// explainLookups is explain for commands that git is asked about before they are judged.
// A lookup that runs out of its seconds on a busy machine makes a question of a command, so that the
// commands that are asked about are judged twice; in the short form those of a verdict unlike the wanted one.
func explainLookups(t *testing.T, fixture cases.Fixture, mode string, all []cases.Case, unlike func(i int, verdict string) bool) []explained {
	t.Helper()
	answers := explain(t, fixture, mode, true, all)
	var asked []int
	var again []cases.Case
	for i, answer := range answers {
		if answer.Verdict == "ask" && (testreq.Full() || unlike(i, answer.Verdict)) {
			asked, again = append(asked, i), append(again, all[i])
		}
	}
	if len(again) == 0 {
		return answers
	}
	for i, answer := range explain(t, fixture, mode, true, again) {
		answers[asked[i]] = answer
	}
	return answers
}
