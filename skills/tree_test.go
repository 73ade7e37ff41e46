package skills_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/skills"
)

// tree lays out files below a fresh directory, which it returns resolved. A name
// that ends in "/" is a directory; content that begins with "-> " a link.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		write(t, filepath.Join(top, filepath.FromSlash(name)), content, strings.HasSuffix(name, "/"))
	}
	return top
}

func write(t testing.TB, path, content string, isDir bool) {
	t.Helper()
	dir := filepath.Dir(path)
	if isDir {
		dir = path
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	switch target, link := strings.CutPrefix(content, "-> "); {
	case isDir:
	case link:
		err = os.Symlink(filepath.FromSlash(target), path)
	default:
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// md is the text of a SKILL.md.
func md(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n\nBody of " + name + ": " + description + ".\n"
}

// index shows a library's index, "name: description" each.
func index(l *skills.Library) []string {
	lines := []string{}
	for _, e := range l.Index() {
		lines = append(lines, e.Name+": "+e.Description)
	}
	return lines
}

// expect compares warnings with what each must contain, in order. Paths are shown
// below top, which may be "".
func expect(t *testing.T, top string, warnings []skills.Warning, want [][]string) {
	t.Helper()
	for i, w := range warnings {
		text := w.String()
		if top != "" {
			text = filepath.ToSlash(strings.ReplaceAll(text, top+string(filepath.Separator), ""))
		}
		if i >= len(want) {
			t.Errorf("further warning %q", text)
			continue
		}
		for _, mention := range want[i] {
			if !strings.Contains(text, mention) {
				t.Errorf("warning %q does not mention %q", text, mention)
			}
		}
	}
	for _, missing := range want[min(len(want), len(warnings)):] {
		t.Errorf("no warning of %q", missing)
	}
}

// needsLinks ends tests that make links where not everybody may.
func needsLinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege")
	}
}
