//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/workspace/run"
)

// FuzzCheck asks for any path in a tree with links to everywhere. What the check lets
// through lies, by the system's own reading of links, in the session's directories, and
// is no secret.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"a", "d/../a", "out/x", "../x", "top/etc/passwd", "/", "~", "loop", "chain/../..", "d/new/x", ".env", "notes", "a/b",
		"/proc/self/root/etc", "\x00", "d/\xff", "out/../a", "up/work/a", "dangling/x", "//", "d/.", strings.Repeat("d/../", 60) + "a",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	top, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	cwd, outside := filepath.Join(top, "work"), filepath.Join(top, "workspace")
	for _, dir := range []string{filepath.Join(cwd, "d", "e"), outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			f.Fatal(err)
		}
	}
	for _, name := range []string{cwd + "/a", cwd + "/d/a", cwd + "/.env", outside + "/x"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			f.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"out": outside, "up": "..", "top": "/", "chain": "d/e", "loop": "loop", "notes": ".env", "dangling": outside + "/no", "d/back": "..",
	} {
		if err := os.Symlink(target, filepath.Join(cwd, name)); err != nil {
			f.Fatal(err)
		}
	}
	w, err := New(Options{SessionID: "ses_fuzz", Directories: Directories{Cwd: cwd, State: filepath.Join(top, "state"), Home: top}, Protection: run.Protection{Secret: isSecret}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Close(0) })
	f.Fuzz(func(t *testing.T, path string, write bool) {
		access, err := w.Check(path, write)
		if err != nil || !access.Inside {
			return
		}
		real, err := deepest(access.Path)
		if err != nil {
			t.Fatalf("%q is inside, and the system says %v", path, err)
		}
		in := func(dir string) bool { return real == dir || strings.HasPrefix(real, dir+"/") }
		if !in(cwd) && !in(filepath.Dir(w.Session().Scratch)) {
			t.Fatalf("%q is inside, and leads to %q", path, real)
		}
		if _, err := os.Lstat(real); isSecret(real) && err == nil {
			t.Fatalf("%q is let through, and leads to the secret %q", path, real)
		}
		same(t, "real", access.Real, real)
	})
}

// deepest is filepath.EvalSymlinks for a path whose end need not exist.
func deepest(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || path == "/" {
		return real, err
	}
	if target, err := os.Readlink(path); err == nil { // it leads to nothing
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		return deepest(target)
	}
	parent, err := deepest(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}
