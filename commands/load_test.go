package commands_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/commands"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/projects"
)

// tree writes files below a new directory without links.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func scan(t *testing.T, dir string) projects.Snapshot {
	t.Helper()
	s, err := projects.Scan(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shown is a set, one line a command, with paths relative to a directory.
func shown(set *commands.Set, dir string) (list []string) {
	for _, c := range set.All() {
		rel, _ := filepath.Rel(dir, c.File)
		list = append(list, fmt.Sprintf("/%s %s: %s, from %s", c.Name, c.Hint, c.Description, filepath.ToSlash(rel)))
	}
	return list
}

// R158: the names that files get in each layout, and which of two wins.
func TestLoad_NamesAndOrder(t *testing.T) {
	dir := tree(t, map[string]string{
		"home/.agents/commands/team/mine.md": "Mine.", "home/.claude/commands/deep/claude.md": "Theirs.", "home/.claude/commands/notes.txt": "no",
		"config/opencode/command/old.md": "Old.", "config/acp-agent/commands/both.md": "The user's.",
		"repo/.git/HEAD": "ref", "repo/.claude/commands/both.md": "Far.", "repo/.claude/commands/far.md": "Far.",
		"repo/a/.agents/commands/far.md": "Near.", "repo/a/.agents/commands/team/near.MD": "Near.", "repo/a/.claude/commands/x/same.md": "Same.",
		"repo/a/.claude/commands/y/same.md": "Another.", "repo/a/.opencode/commands/team/near.md": "Near.", "repo/a/.opencode/commands/both.md": "Both.",
		"repo/a/.opencode/command/legacy.md": "Legacy.", "repo/a/.opencode/command/help.md": "Help.", "repo/a/.agents/commands/two words.md": "x", "repo/a/.agents/commands/mcp:a:b.md": "x",
	})
	set := commands.Load(commands.Options{
		Home: filepath.Join(dir, "home"), ConfigHome: filepath.Join(dir, "config"), Dir: filepath.Join(dir, "repo/a"),
		Project: scan(t, filepath.Join(dir, "repo/a")), Trusted: true, Taken: func(name string) bool { return name == "help" },
	})
	want := []string{
		"/both [arguments]: The user's., from config/acp-agent/commands/both.md",
		"/team/mine [arguments]: Mine., from home/.agents/commands/team/mine.md",
		"/claude [arguments]: Theirs., from home/.claude/commands/deep/claude.md",
		"/old [arguments]: Old., from config/opencode/command/old.md",
		"/far [arguments]: Near., from repo/a/.agents/commands/far.md",
		"/team/near [arguments]: Near., from repo/a/.agents/commands/team/near.MD",
		"/same [arguments]: Same., from repo/a/.claude/commands/x/same.md",
		"/legacy [arguments]: Legacy., from repo/a/.opencode/command/legacy.md",
	}
	if diff := cmp.Diff(want, shown(set, dir)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	problems := strings.ReplaceAll(strings.Join(set.Problems(), "\n"), filepath.ToSlash(dir)+"/", "")
	wantProblems := `repo/a/.agents/commands/mcp:a:b.md: is not used: its name cannot be typed as a command
repo/a/.agents/commands/two words.md: is not used: its name cannot be typed as a command
repo/a/.claude/commands/y/same.md: is not used: /same is the command of repo/a/.claude/commands/x/same.md
repo/a/.opencode/commands/both.md: is not used: /both is the command of config/acp-agent/commands/both.md
repo/a/.opencode/command/help.md: is not used: /help is a command of the agent itself
repo/.claude/commands/both.md: is not used: /both is the command of config/acp-agent/commands/both.md
repo/.claude/commands/far.md: is not used: /far is the command of repo/a/.agents/commands/far.md`
	if diff := cmp.Diff(wantProblems, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// T1: of a project that is not trusted there are names alone, and nothing in its files makes a
// problem.
func TestLoad_Untrusted(t *testing.T) {
	dir := tree(t, map[string]string{".claude/commands/review.md": "Review.", ".claude/commands/broken.md": "---\n", ".opencode/commands/review.md": "Again."})
	set := commands.Load(commands.Options{Dir: dir, Project: scan(t, dir)})
	if diff := cmp.Diff([]string{"broken", "review"}, set.Untrusted()); diff != "" || len(set.All()) != 0 || len(set.Problems()) != 0 {
		t.Errorf("commands %v, problems %v, untrusted (-want +got):\n%s", set.All(), set.Problems(), diff)
	}
}

// Which fields a file may have, and what of them has an effect.
func TestLoad_FrontMatter(t *testing.T) {
	dir := tree(t, map[string]string{
		".claude/commands/a.md":  "---\ndescription: Fix: it's broken\nargument-hint: [issue] [priority]\nallowed-tools: Bash(git add:*), Bash(git status:*)\nmodel: sonnet\nname: other\n---\n\n!`git status`\nFix it.",
		".claude/commands/b.md":  "---\narguments: [issue, branch]\n---\n# Work on it\nNow.",
		".claude/commands/b2.md": "---\narguments:\n  - name: feature\n    required: true\n---\nWrite about $1.",
		".claude/commands/c.md":  "---\nuser-invocable: false\n---\nKnowledge.",
		".claude/commands/d.md":  "---\ndescription: [a, b]\n---\nx",
		".claude/commands/e.md":  "---\ndescription: x\n---\n \n",
		".claude/commands/f.md":  "---\ndescription: x: y\nargument-hint: <file> | --all\nsubtask: true\n---\nx\u202e",
		".claude/commands/g.md":  "---\n- a\n---\nx",
	})
	set := commands.Load(commands.Options{Dir: dir, Project: scan(t, dir), Trusted: true})
	want := []string{
		"/a [issue] [priority]: Fix: it's broken, from .claude/commands/a.md",
		"/b [issue] [branch]: Work on it, from .claude/commands/b.md",
		"/b2 [arguments]: Write about $1., from .claude/commands/b2.md",
		"/f <file> | --all: x: y, from .claude/commands/f.md",
	}
	if diff := cmp.Diff(want, shown(set, dir)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	a, _ := set.Get("a")
	f, _ := set.Get("f")
	if diff := cmp.Diff([]any{[]string{"allowed-tools", "model"}, true, []string{"subtask"}, false}, []any{a.Ignored, a.Shell, f.Ignored, f.Shell}); diff != "" {
		t.Errorf("without effect (-want +got):\n%s", diff)
	}
	if text, err := f.Fill(""); text != `x\u{202e}` || err != nil {
		t.Errorf("text %q, error %v", text, err)
	}
	problems := strings.Join(set.Problems(), "\n")
	for _, want := range []string{"d.md: line 2: description: expects a text", "e.md: has no text", "g.md: its front matter is not a list of fields"} {
		if !strings.Contains(problems, want) {
			t.Errorf("problems %s, want %q", problems, want)
		}
	}
}

// Links of a user's own are followed where they lie in the directory itself, and no secret, pipe
// or huge file is read.
func TestLoad_UserFiles(t *testing.T) {
	dir := tree(t, map[string]string{
		"dotfiles/linked.md": "Linked.", "home/.agents/commands/deep/x.md": "X.", "home/.agents/commands/secret.md": "no",
		"home/.agents/commands/huge.md": strings.Repeat("x", 64<<10+1),
	})
	for _, name := range []string{"linked.md", "deep/again.md"} {
		if err := os.Symlink(filepath.Join(dir, "dotfiles/linked.md"), filepath.Join(dir, "home/.agents/commands", name)); err != nil {
			testreq.Skip(t, "links cannot be made: "+err.Error())
		}
	}
	set := commands.Load(commands.Options{Home: filepath.Join(dir, "home"), Secret: func(path string) bool { return strings.HasSuffix(path, "secret.md") }})
	want := []string{"/deep/x [arguments]: X., from home/.agents/commands/deep/x.md", "/linked [arguments]: Linked., from home/.agents/commands/linked.md"}
	if diff := cmp.Diff(want, shown(set, dir)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if len(set.Problems()) != 2 {
		t.Errorf("problems: %q", set.Problems())
	}
}
