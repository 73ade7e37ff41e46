package skills_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"acp-agent/skills"
)

// The index and a body that was loaded stay what they were (trap 53).
func TestLibrary_Static(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{
		"repo/.git/HEAD":                     "",
		"repo/.agents/skills/first/SKILL.md": md("first", "loaded before"),
		"repo/.agents/skills/other/SKILL.md": md("other", "not loaded before"),
		"repo/.agents/skills/gone/SKILL.md":  md("gone", "removed"),
	})
	folder := filepath.Join(top, "repo", ".agents", "skills")
	library, warnings := skills.Discover(t.Context(), skills.Options{Cwd: filepath.Join(top, "repo")})
	expect(t, top, warnings, nil)
	before, err := library.Load("first")
	if err != nil {
		t.Fatal(err)
	}
	// R84: the frame is the last of it.
	want := "<skill_content name=\"first\">\nBody of first: loaded before.\n\n" +
		"This skill's folder, which relative paths in it start from: " + filepath.Join(folder, "first") + "\n</skill_content>"
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	prompt := library.Prompt()
	if want := "- first: loaded before\n- gone: removed\n- other: not loaded before\n"; !strings.HasSuffix(prompt, want) || strings.Contains(prompt, "Body") {
		t.Errorf("prompt = %q, want it to end in %q", prompt, want)
	}

	for _, name := range []string{"first", "other", "new"} {
		write(t, filepath.Join(folder, name, "SKILL.md"), md(name, "changed"), false)
	}
	if err := os.RemoveAll(filepath.Join(folder, "gone")); err != nil {
		t.Fatal(err)
	}
	if after, err := library.Load(" first "); err != nil || after != before {
		t.Errorf("loaded again: %q, %v", after, err)
	}
	if content, err := library.Load("other"); err != nil || !strings.Contains(content, "Body of other: changed.") {
		t.Errorf("loaded after the change: %q, %v", content, err)
	}
	if _, err := library.Load("gone"); err == nil || !strings.Contains(err.Error(), "skill gone cannot be loaded") {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := library.Load("new"); err == nil || !strings.Contains(err.Error(), `"new"; there are: first, gone, other`) {
		t.Errorf("a skill that came later: %v", err)
	}
	if library.Prompt() != prompt || len(library.Index()) != 3 {
		t.Errorf("the index has changed: %q", library.Prompt())
	}
}

func TestLibrary_LoadText(t *testing.T) {
	t.Parallel()
	const head = "---\nname: x\ndescription: d\n---\n"
	huge := strings.Repeat("0123456789abcde\n", 20_000)
	tests := []struct{ name, body, want string }{
		{"lines", "\r\n# Title\r\n\r\nText.\r\n", "# Title\n\nText."},
		{"indented start", "\n  code\n", "  code"},
		{"fence in the body", "a\n---\nb\n", "a\n---\nb"},
		{"invisible", "a\u200bb\u202ec\U000e0041d\x1b[31m", `a\u{200b}b\u{202e}c\u{e0041}d\u{1b}[31m`},
		{"invalid UTF-8", "a\xffb", "a\ufffdb"},
		{"end of the frame", "a\n</skill_content>\nb", "a\n&lt;/skill_content>\nb"},
		{"empty", "", ""},
		{"huge", huge, huge[:100_000-len(head)] + "\n[the rest is left out: a skill's text may have 100000 bytes]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			library, _ := one(t, "x", head+tt.body)
			content, err := library.Load("x")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("<skill_content name=\"x\">\n"+tt.want+"\n</skill_content>", content); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
	// What grows when it is escaped is cut once more.
	library, _ := one(t, "x", head+strings.Repeat("\u202e", 30_000))
	if content, err := library.Load("x"); err != nil || len(content) > 100_200 || !strings.Contains(content, "the rest is left out") {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// A large file costs no more to index than a small one, and is cut when loaded.
func TestLibrary_HugeFile(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{"repo/.git/HEAD": "", "repo/.agents/skills/big/SKILL.md": md("big", "d")})
	file := filepath.Join(top, "repo", ".agents", "skills", "big", "SKILL.md")
	if err := os.Truncate(file, 1<<32); err != nil { // sparse
		t.Fatal(err)
	}
	library, warnings := skills.Discover(t.Context(), skills.Options{Cwd: filepath.Join(top, "repo")})
	expect(t, top, warnings, nil)
	content, err := library.Load("big")
	if err != nil || len(content) > 102_400 || !strings.Contains(content, "Body of big") {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

func TestLibrary_LoadTogether(t *testing.T) {
	t.Parallel()
	library, _ := skills.Discover(t.Context(), skills.Options{Bundled: fstest.MapFS{
		"a/SKILL.md": {Data: []byte(md("a", "d"))}, "b/SKILL.md": {Data: []byte(md("b", "d"))},
	}})
	var running sync.WaitGroup
	for i := range 20 {
		name := string(rune('a' + i%2))
		running.Go(func() {
			if content, err := library.Load(name); err != nil || !strings.Contains(content, "Body of "+name) {
				t.Errorf("Load(%s) = %q, %v", name, content, err)
			}
		})
	}
	running.Wait()
}
