package gitignore_test

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/internal/gitignore"
	"acp-agent/internal/testkit/testreq"
)

// repository makes an empty git repository, or skips the test where git is
// absent (fatal where everything is required).
func repository(t testing.TB) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "no git, which is the oracle of this test")
	}
	dir := t.TempDir()
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return dir
}

// gitIgnores asks git which of the paths it ignores.
func gitIgnores(t fataler, dir, ignoreFile string, paths []string) map[string]bool {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(ignoreFile), 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
	cmd := exec.Command("git", "-C", dir, "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("git check-ignore: %v: %s", err, stderr.Bytes())
	}
	ignored := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		ignored[p] = true
	}
	return ignored
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// ignores applies one file as a walker does: from the top, and nothing below
// an ignored directory comes back.
func ignores(f *gitignore.File, name string) bool {
	for i := range len(name) {
		if name[i] == '/' && f.Match(name[:i], true) == gitignore.Ignore {
			return true
		}
	}
	return f.Match(name, false) == gitignore.Ignore
}

func TestFile_AgreesWithGit(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	element := rapid.StringMatching(`[ab.\-\]! ]{1,3}`).Filter(func(s string) bool {
		return strings.Trim(s, ".") != "" && strings.Trim(s, " ") == s
	})
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"*", "**", "?", "/", "/", "**/", "/**", "[ab]", "[!a]", "[a-b", "[[:alpha:]]", "[]a]", `\`, "!", " ", "#", `[\]]`, "[--.]"}),
		element,
	)
	pattern := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pattern, 1, 5).Draw(t, "patterns"), "\n")
		var paths []string
		for _, elements := range rapid.SliceOfN(rapid.SliceOfN(element, 1, 4), 1, 20).Draw(t, "paths") {
			paths = append(paths, path.Join(elements...))
		}
		want := gitIgnores(t, dir, text, paths)
		f := gitignore.Parse([]byte(text))
		for _, p := range paths {
			if got := ignores(f, p); got != want[p] {
				t.Fatalf("file %q: path %q ignored = %v, git says %v", text, p, got, want[p])
			}
		}
	})
}

func FuzzFile_Match(f *testing.F) {
	f.Add("*.log\n!a/**/b\n", "a/x.log")
	f.Add("[[:alpha:]-\\]]\n/a**/b/", "ab/b")
	f.Add("a\\ \nb/ \n", "a ")
	dir := repository(f)
	f.Fuzz(func(t *testing.T, text, name string) {
		if name == "" || strings.ContainsAny(name, "\x00\\") || path.IsAbs(name) || path.Clean(name) != name ||
			strings.HasPrefix(name, ".") || strings.Contains(name, "/.") || name[0] == ':' || len(name) > 200 || len(text) > 500 {
			t.Skip("not a path git would take")
		}
		got := ignores(gitignore.Parse([]byte(text)), name)
		if want := gitIgnores(t, dir, text, []string{name})[name]; got != want {
			t.Fatalf("file %q: path %q ignored = %v, git says %v", text, name, got, want)
		}
	})
}

func BenchmarkFile_Match(b *testing.B) {
	f := gitignore.Parse([]byte(strings.Repeat("*.log\nnode_modules/\n/build\n*.py[co]\ndocs/**/_build/\n", 12)))
	for b.Loop() {
		f.Match("internal/search/walk_test.go", false)
	}
}
