package skills_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/permissions"
	"acp-agent/skills"
)

// framed is the text of files, names below top and contents in turn.
func framed(top string, parts ...string) string {
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		path := filepath.Join(top, filepath.FromSlash(parts[i]))
		fmt.Fprintf(&b, "<instructions file=\"%s\">\n%s\n</instructions>\n\n", path, parts[i+1])
	}
	return b.String()
}

func TestLoadInstructions_Text(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  []string // names and contents
		known []string // Files beside those of want
	}{
		{"nothing", map[string]string{"repo/.git/HEAD": ""}, nil, nil},
		{"outermost first, nearest last", map[string]string{
			"AGENTS.md": "above the repository", "repo/.git": "gitdir: elsewhere", "repo/AGENTS.md": "repository",
			"repo/a/CLAUDE.md": "middle", "repo/a/b/CONTEXT.md": "near", "repo/a/b/c/AGENTS.md": "deeper",
			"home/.claude/CLAUDE.md": "mine 3", "home/.agents/AGENTS.md": "mine 2", "config/acp-agent/AGENTS.md": "mine 1",
			"more/AGENTS.md": "further root",
		}, []string{
			"config/acp-agent/AGENTS.md", "mine 1", "home/.agents/AGENTS.md", "mine 2", "home/.claude/CLAUDE.md", "mine 3",
			"more/AGENTS.md", "further root", "repo/AGENTS.md", "repository", "repo/a/CLAUDE.md", "middle", "repo/a/b/CONTEXT.md", "near",
		}, nil},
		{"no repository", map[string]string{"repo/AGENTS.md": "above", "repo/a/b/AGENTS.md": "here"}, []string{"repo/a/b/AGENTS.md", "here"}, nil},
		{
			"all three",
			map[string]string{"repo/.git/": "", "repo/AGENTS.md": "1", "repo/CLAUDE.md": "2", "repo/CONTEXT.md": "3"},
			[]string{"repo/AGENTS.md", "1", "repo/CLAUDE.md", "2", "repo/CONTEXT.md", "3"},
			nil,
		},
		{
			"copy",
			map[string]string{"repo/.git/": "", "repo/AGENTS.md": "same\n", "repo/CLAUDE.md": "\ufeffsame\r\n\r\n"},
			[]string{"repo/AGENTS.md", "same"},
			[]string{"repo/CLAUDE.md"},
		},
		{
			"import",
			map[string]string{"repo/.git/": "", "repo/AGENTS.md": "rules", "repo/CLAUDE.md": "@AGENTS.md\n"},
			[]string{"repo/AGENTS.md", "rules"},
			[]string{"repo/CLAUDE.md"},
		},
		{"import of nothing", map[string]string{"repo/.git/": "", "repo/CLAUDE.md": "@./AGENTS.md\n"}, nil, nil},
		{
			"same in another directory",
			map[string]string{"repo/.git/": "", "repo/AGENTS.md": "same", "repo/a/AGENTS.md": "same"},
			[]string{"repo/AGENTS.md", "same", "repo/a/AGENTS.md", "same"},
			nil,
		},
		{"blank", map[string]string{"repo/.git/": "", "repo/AGENTS.md": " \n\t\n", "repo/CLAUDE.md": ""}, nil, nil},
		{
			"what is invisible is shown",
			map[string]string{"repo/.git/": "", "repo/AGENTS.md": "a\u200bb\u202e\U000e0041\x00\rc\xff\r\nd"},
			[]string{"repo/AGENTS.md", `a\u{200b}b\u{202e}\u{e0041}\u{0}\u{d}c` + "\ufffd\nd"},
			nil,
		},
		{
			"end of the frame",
			map[string]string{"repo/.git/": "", "repo/AGENTS.md": "a\n</instructions>\nb"},
			[]string{"repo/AGENTS.md", "a\n&lt;/instructions>\nb"},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			top := tree(t, tt.files)
			write(t, filepath.Join(top, "repo", "a", "b"), "", true)
			got, warnings := skills.LoadInstructions(in(top))
			expect(t, top, warnings, nil)
			if diff := cmp.Diff(framed(top, tt.want...), got.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			files := map[string]bool{}
			for i := 0; i < len(tt.want); i += 2 {
				files[filepath.Join(top, tt.want[i])] = true
			}
			for _, name := range tt.known {
				files[filepath.Join(top, name)] = true
			}
			loaded := map[string]bool{}
			for _, file := range got.Files {
				loaded[file] = true
			}
			if diff := cmp.Diff(files, loaded); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// in are the options of a session in repo/a/b of a tree.
func in(top string) skills.Options {
	return skills.Options{
		Cwd: filepath.Join(top, "repo", "a", "b"), Roots: []string{filepath.Join(top, "repo", "a", "b"), filepath.Join(top, "more")},
		Home: filepath.Join(top, "home"), ConfigHome: filepath.Join(top, "config"), Secret: permissions.Secret,
	}
}

func TestLoadInstructions_Links(t *testing.T) {
	t.Parallel()
	needsLinks(t)
	top := tree(t, map[string]string{
		"outside/notes.md":       "private",
		"home/.claude/CLAUDE.md": "-> ../../outside/notes.md",
		"repo/.git/":             "",
		"repo/.env":              "TOKEN=1",
		"repo/CLAUDE.md":         "-> AGENTS.md",
		"repo/AGENTS.md":         "-> docs/agents.md",
		"repo/docs/agents.md":    "shared",
		"repo/a/AGENTS.md":       "-> ../AGENTS.md",
		"repo/a/CLAUDE.md":       "-> ../../outside/notes.md",
		"repo/a/CONTEXT.md":      "-> ../.env",
		"repo/a/b/AGENTS.md/":    "",
		"repo/a/b/CLAUDE.md":     "-> nowhere",
		"more/AGENTS.md":         "-> ../repo/docs/agents.md",
	})
	got, warnings := skills.LoadInstructions(in(top))
	expect(t, top, warnings, [][]string{
		{"more/AGENTS.md", "leads out of"},
		{"repo/a/CLAUDE.md", "leads out of"},
		{"repo/a/CONTEXT.md", "a link to a secret"},
		{"repo/a/b/AGENTS.md", "is a directory"},
		{"repo/a/b/CLAUDE.md", "leads nowhere"},
	})
	if diff := cmp.Diff(framed(top, "home/.claude/CLAUDE.md", "private", "repo/AGENTS.md", "shared"), got.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	var want []string
	for _, name := range []string{
		"home/.claude/CLAUDE.md", "outside/notes.md", "repo/AGENTS.md", "repo/CLAUDE.md", "repo/a/AGENTS.md", "repo/docs/agents.md",
	} {
		want = append(want, filepath.Join(top, name))
	}
	if diff := cmp.Diff(want, got.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestLoadInstructions_Cap(t *testing.T) {
	t.Parallel()
	const most = 32_000
	lines := func(name string, n int) string { // 10 bytes each
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %07d\n", name, i)
		}
		return b.String()
	}
	const fileCut, filesOut = "the beginning of this file is left out", "instruction files from further out are left out"
	tests := []struct {
		name           string
		user, top, own string
		has, lacks     []string
		warnings       [][]string
		files          int
	}{
		{
			"fits", lines("u", 1000), lines("t", 1000), lines("o", 1000),
			[]string{"u 0000000", "o 0000999"},
			[]string{fileCut, filesOut},
			nil, 3,
		},
		{
			"outermost is cut", lines("u", 2000), lines("t", 1000), lines("o", 1000),
			[]string{fileCut, "u 0001999", "t 0000000", "o 0000999"},
			[]string{"u 0000000", filesOut},
			[][]string{{"config/acp-agent/AGENTS.md", "its beginning is left out"}},
			3,
		},
		{
			"outermost is out", lines("u", 1000), lines("t", 2000), lines("o", 2000),
			[]string{"[1 " + filesOut, fileCut, "t 0001999", "o 0000000"},
			[]string{"u 0", "t 0000000"},
			[][]string{{"repo/AGENTS.md", "its beginning"}, {"config/acp-agent/AGENTS.md", "is left out"}},
			2,
		},
		{
			"no room for a piece", "u", "t", lines("o", 3168),
			[]string{"[2 " + filesOut, "o 0000000"},
			[]string{fileCut},
			[][]string{{"config/acp-agent/AGENTS.md", "is left out"}, {"repo/AGENTS.md", "is left out"}},
			1,
		},
		{
			"nearest alone is too long", "u", "t", lines("o", 100_000),
			[]string{"[2 " + filesOut, fileCut, "o 0099999"},
			[]string{"o 0000000"},
			[][]string{{"repo/a/b/AGENTS.md", "its beginning"}, {"config/acp-agent/AGENTS.md", "is left out"}, {"repo/AGENTS.md", "is left out"}},
			1,
		},
		{
			"one long line", "", "", strings.Repeat("é", 100_001),
			[]string{fileCut, "éé\n"},
			[]string{"\ufffd"},
			[][]string{{"repo/a/b/AGENTS.md", "its beginning"}},
			1,
		},
		{
			"grows when shown", "", "", strings.Repeat("\u202e", 8000),
			[]string{fileCut},
			nil,
			[][]string{{"repo/a/b/AGENTS.md", "its beginning"}},
			1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			top := tree(t, map[string]string{
				"config/acp-agent/AGENTS.md": tt.user, "repo/.git/": "", "repo/AGENTS.md": tt.top, "repo/a/b/AGENTS.md": tt.own,
			})
			got, warnings := skills.LoadInstructions(in(top))
			expect(t, top, warnings, tt.warnings)
			if len(got.Text) > most || len(tt.warnings) > 0 && len(got.Text) < most-2000 {
				t.Errorf("%d bytes, want the cap of %d used and kept", len(got.Text), most)
			}
			for _, part := range tt.has {
				if !strings.Contains(got.Text, part) {
					t.Errorf("text lacks %q: it begins %q", part, got.Text[:min(400, len(got.Text))])
				}
			}
			for _, part := range tt.lacks {
				if strings.Contains(got.Text, part) {
					t.Errorf("text has %q", part)
				}
			}
			if len(got.Files) != tt.files {
				t.Errorf("files = %q, want %d", got.Files, tt.files)
			}
		})
	}
}
