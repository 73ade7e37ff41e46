package fileuri_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"acp-agent/internal/fileuri"
)

func TestURI(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		for path, uri := range map[string]string{`C:\a b\c.go`: "file:///C:/a%20b/c.go", `\\host\share\x`: "file://host/share/x"} {
			if got := fileuri.Of(path); got != uri {
				t.Errorf("fileuri.Of(%q) = %q, want %q", path, got, uri)
			}
			if got, ok := fileuri.Path(uri); !ok || got != path {
				t.Errorf("fileuri.Path(%q) = %q, %v", uri, got, ok)
			}
		}
		return
	}
	for _, path := range []string{"/a/b.go", "/a b/ü#?%.go", "/odd\xff"} {
		got, ok := fileuri.Path(fileuri.Of(path))
		if !ok || got != path {
			t.Errorf("%q became %q, then %q", path, fileuri.Of(path), got)
		}
	}
	for _, uri := range []string{"http://x/y", "untitled:1", "file:", "%", ""} {
		if got, ok := fileuri.Path(uri); ok {
			t.Errorf("fileuri.Path(%q) = %q", uri, got)
		}
	}
}

// FuzzPath: whatever a server sends, a path is absolute, and its URI leads to it again.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"file:///a/b%20c", "file://host/x", "file:", "http://x/y", "%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, ok := fileuri.Path(uri)
		if !ok {
			return
		}
		if again, ok := fileuri.Path(fileuri.Of(path)); !ok || again != path || !filepath.IsAbs(path) {
			t.Errorf("Path(%q) = %q, and again %q", uri, path, again)
		}
	})
}
