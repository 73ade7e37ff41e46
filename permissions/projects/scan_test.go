package projects_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/permissions/projects"
)

// tree writes files below a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func scan(t *testing.T, dir string) projects.Snapshot {
	t.Helper()
	s, err := projects.Scan(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScan_WhatCounts(t *testing.T) {
	dir := tree(t, map[string]string{
		".acp-agent/config.jsonc": "{}", ".acp-agent/agents/deep/fix.md": "x", ".cargo/config.toml": "a", ".cargo/other": "b", ".prettierrc.js": "c", ".CLANGD": "c",
		"tsconfig.json": "{}", ".yarnrc.yml": "npmAuthToken: x", "main.go": "d", "Makefile": "e", "package.json": "f", "sub/.prettierrc": "g", ".eslintrc/x": "h",
	})
	var names []string
	for _, f := range scan(t, dir).Files {
		names = append(names, f.Name)
		if strings.Contains(f.Text, "npmAuthToken") {
			t.Errorf("the text of %s is kept, which may hold a token", f.Name)
		}
	}
	want := []string{".CLANGD", ".acp-agent/agents/deep/fix.md", ".acp-agent/config.jsonc", ".cargo/config.toml", ".prettierrc.js", ".yarnrc.yml", "tsconfig.json"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range names {
		if !projects.Concerns(name) {
			t.Errorf("a change of %s would go unseen", name)
		}
	}
	for _, name := range []string{"main.go", "Makefile", "sub/.prettierrc", ".acp-agent2/x"} {
		if projects.Concerns(name) {
			t.Errorf("%s does not count", name)
		}
	}
}

// TestScan_Agents holds that trust is bound to the agents of a project, those above it in
// its repository too, and to the content with which they are used.
func TestScan_Agents(t *testing.T) {
	repo := tree(t, map[string]string{
		".git/HEAD": "ref", ".agents/agents/top.md": "top", ".agents/skills/s/SKILL.md": "no agent", "a/.claude/agents/mid.MD": "mid",
		"a/b/.agents/agents/near.md": "near", "a/b/.agents/agents/deep/x.md": "deep", "a/b/.claude/agents/notes.txt": "notes",
		"a/b/.claude/settings.json": "{}", "a/b/c/.agents/agents/below.md": "below", "a/side/.agents/agents/side.md": "side",
	})
	dir := filepath.Join(repo, "a", "b")
	first := scan(t, dir)
	var names []string
	for _, f := range first.Files {
		names = append(names, f.Name)
		if !projects.Concerns(f.Name) {
			t.Errorf("a change of %s would go unseen", f.Name)
		}
	}
	want := []string{
		"../../.agents/agents/top.md", "../.claude/agents/mid.MD", ".agents/agents/deep/x.md", ".agents/agents/near.md", ".claude/agents/notes.txt",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	var agents []string
	for _, f := range first.Agents() {
		agents = append(agents, f.Name+" "+f.Text)
	}
	if diff := cmp.Diff([]string{".agents/agents/near.md near", "../.claude/agents/mid.MD mid", "../../.agents/agents/top.md top"}, agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	for _, name := range []string{".agents/agents/top.md", "a/.claude/agents/mid.MD", "a/b/.agents/agents/deep/x.md", "a/b/.claude/agents/new.md"} {
		put(t, repo, name, "changed")
		now := scan(t, dir)
		if now.Hash == first.Hash {
			t.Errorf("a change of %s goes unseen", name)
		}
		first = now
	}
	for _, name := range []string{".agents/skills/s/SKILL.md", "a/side/.agents/agents/side.md", "a/b/c/.agents/agents/below.md"} {
		put(t, repo, name, "changed")
		if scan(t, dir).Hash != first.Hash {
			t.Errorf("a change of %s counts", name)
		}
	}
	if alone := tree(t, map[string]string{".agents/agents/top.md": "x", "a/main.go": "y"}); len(scan(t, filepath.Join(alone, "a")).Files) > 0 {
		t.Error("without a repository the directory above is part of the project")
	}
	for name, want := range map[string]bool{
		".agents": true, ".claude/agents": true, ".CLAUDE/Agents/x.md": true, "../.agents/agents/x.md": true,
		".claude/settings.json": false, ".agents/agents2/x.md": false, "sub/.agents/agents/x.md": false,
	} {
		if projects.Concerns(name) != want {
			t.Errorf("%s counts: %v, want %v", name, !want, want)
		}
	}
}

// TestScan_Bound holds that the hash changes with every name and every byte, and with
// nothing else (T4).
func TestScan_Bound(t *testing.T) {
	dir := tree(t, map[string]string{".acp-agent/config.jsonc": "one", ".prettierrc": "two"})
	first := scan(t, dir)
	trusted := projects.Record{Trust: &projects.Trust{Hash: first.Hash, Files: first.Files}}
	put(t, dir, "main.go", "new")
	if s := scan(t, dir); s.Hash != first.Hash || !trusted.Trusts(s) {
		t.Error("a source file changed the hash")
	}
	seen := map[string]string{first.Hash: "at first"}
	for _, change := range []struct{ name, text string }{
		{".acp-agent/config.jsonc", "onE"}, {".acp-agent/config.jsonc", ""}, {".acp-agent/config.jsonc", "one"}, {".acp-agent/agents/x", ""}, {".prettierrc", "onetwo"},
	} {
		put(t, dir, change.name, change.text)
		s := scan(t, dir)
		if change.text != "one" && seen[s.Hash] != "" {
			t.Errorf("after %q in %s the hash is that of %s", change.text, change.name, seen[s.Hash])
		}
		if change.text == "one" != trusted.Trusts(s) {
			t.Errorf("after %q in %s: trusted %v", change.text, change.name, trusted.Trusts(s))
		}
		seen[s.Hash] = change.text
	}
	if empty := scan(t, t.TempDir()); empty.Hash == "" || trusted.Trusts(empty) || (projects.Record{}).Trusts(empty) {
		t.Error("a project without configuration has a hash of its own, and no one trusts it yet")
	}
	if (projects.Record{Trust: &projects.Trust{}}).Trusts(projects.Snapshot{}) {
		t.Error("nothing is trusted with nothing")
	}
}

func TestScan_CannotBeBound(t *testing.T) {
	outside := tree(t, map[string]string{"evil": "x", "dir/config.jsonc": "{}"})
	link := func(target, name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name, want string
		spoil      func(t *testing.T, dir string)
	}{
		{"a link out", ".prettierrc cannot be read inside the project", link(filepath.Join(outside, "evil"), ".prettierrc")},
		{"its directory is elsewhere", ".acp-agent cannot be read inside the project", link(filepath.Join(outside, "dir"), ".acp-agent")},
		{"its directory is a file", ".acp-agent is not a directory", func(t *testing.T, dir string) { put(t, dir, ".acp-agent", "x") }},
		{"agents that are elsewhere", ".agents/agents cannot be read inside the project", func(t *testing.T, dir string) {
			put(t, dir, ".agents/skills/x", "")
			link(filepath.Join(outside, "dir"), ".agents/agents")(t, dir)
		}},
		{"too large", "too large to be trusted", func(t *testing.T, dir string) { put(t, dir, ".acp-agent/x", strings.Repeat("x", 4<<20+1)) }},
		{"a link to nowhere", ".prettierrc cannot be read", link("nowhere", ".prettierrc")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (strings.Contains(tt.name, "link") || strings.Contains(tt.name, "elsewhere")) {
				return
			}
			dir := t.TempDir()
			tt.spoil(t, dir)
			if s, err := projects.Scan(dir); err == nil || !strings.Contains(err.Error(), tt.want) || s.Hash != "" {
				t.Errorf("%+v, %v, want %q", s, err, tt.want)
			}
		})
	}
	t.Run("a link inside counts with its content", func(t *testing.T) {
		dir := tree(t, map[string]string{"shared/rc": "one"})
		link(filepath.Join("shared", "rc"), ".prettierrc")(t, dir)
		before := scan(t, dir)
		put(t, dir, "shared/rc", "two")
		if after := scan(t, dir); len(before.Files) != 1 || after.Hash == before.Hash {
			t.Errorf("%+v and %+v", before, after)
		}
	})
}

func TestChanges(t *testing.T) {
	dir := tree(t, map[string]string{".acp-agent/a": "one\n", ".acp-agent/b": "same\n", ".acp-agent/c": "gone\n", ".acp-agent/d": "a\x00b"})
	before := scan(t, dir)
	put(t, dir, ".acp-agent/a", "two\n")
	put(t, dir, ".acp-agent/d", "a\x00c")
	put(t, dir, ".acp-agent/e", "new\n")
	if err := os.Remove(filepath.Join(dir, ".acp-agent", "c")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range projects.Changes(before.Files, scan(t, dir).Files) {
		_, body, _ := strings.Cut(c.Diff, "@@\n")
		got = append(got, c.What+" "+c.Name+" "+body)
	}
	want := []string{"changed .acp-agent/a -one\n+two\n", "gone .acp-agent/c -gone\n", "changed .acp-agent/d ", "new .acp-agent/e +new\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(dir, "file"+string(rune('a'+i%26))+strings.Repeat("x", i)), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range []string{".prettierrc", "tsconfig.json", ".clang-format"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", 2000)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := projects.Scan(dir); err != nil {
			b.Fatal(err)
		}
	}
}
