package skills_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/permissions"
	"acp-agent/skills"
)

// What a session waits for: 50 skills with long bodies, half of them the
// project's, and the instructions of three directories.
func benchOptions(b *testing.B) skills.Options {
	files := map[string]string{"repo/.git/": "", "repo/a/b/": ""}
	for i := range 50 {
		name := fmt.Sprintf("skill-%02d", i)
		folder := "repo/.agents/skills/"
		if i%2 == 0 {
			folder = "home/.claude/skills/"
		}
		files[folder+name+"/SKILL.md"] = md(name, "One of many, with a line that says when.") + strings.Repeat("Do this, then that.\n", 2000)
	}
	for _, name := range []string{"home/.claude/CLAUDE.md", "repo/AGENTS.md", "repo/a/b/AGENTS.md"} {
		files[name] = strings.Repeat(name+" says so.\n", 200)
	}
	top := tree(b, files)
	return skills.Options{
		Cwd: filepath.Join(top, "repo", "a", "b"), Home: filepath.Join(top, "home"), Secret: permissions.Secret,
	}
}

func BenchmarkDiscover(b *testing.B) {
	o := benchOptions(b)
	for b.Loop() {
		if library, _ := skills.Discover(b.Context(), o); len(library.Index()) != 50 {
			b.Fatalf("%d skills", len(library.Index()))
		}
	}
}

func BenchmarkLoadInstructions(b *testing.B) {
	o := benchOptions(b)
	for b.Loop() {
		if got, _ := skills.LoadInstructions(o); got.Text == "" {
			b.Fatal("nothing was loaded")
		}
	}
}
