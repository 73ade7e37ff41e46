package pathname

import (
	"runtime"
	"testing"
)

func TestContains(t *testing.T) {
	tests := []struct {
		name      string
		dir, path string
		rel       string // "" when dir does not contain path
	}{
		{"itself", "/a/b", "/a/b", "."},
		{"child", "/a/b", "/a/b/c", "c"},
		{"deeper", "/a/b", "/a/b/c/d", "c/d"},
		{"parent", "/a/b", "/a", ""},
		{"whole names", "/a/b", "/a/bc", ""},
		{"whole names below", "/a/b", "/a/bc/d", ""},
		{"top holds all", "/", "/a/b", "a/b"},
		{"top holds itself", "/", "/", "."},
		{"nothing else holds the top", "/a", "/", ""},
		{"slash at the end of the directory", "/a/b/", "/a/b/c", "c"},
		{"slash at the end of the path", "/a/b", "/a/b/", "."},
		{"slash at the end of both", "/a/b/", "/a/b/", "."},
		{"two slashes", "/a//b", "/a/b//c", "c"},
		{"dots that lead out", "/a/b", "/a/b/../c", ""},
		{"dots that stay", "/a/b", "/a/b/c/../d", "d"},
		{"a name that begins with dots", "/a", "/a/..b", "..b"},
		{"case", "/a/B", "/a/b/c", ""},
		{"backslash is a letter", "/a", `/a\b`, ""},
		{"relative in relative", "a", "a/b", "b"},
		{"relative in absolute", "/a", "a/b", ""},
		{"absolute in relative", "a", "/a/b", ""},
		{"here holds what is relative", ".", "a/b", "a/b"},
		{"here holds nothing absolute", ".", "/a", ""},
		{"here does not hold its parent", ".", "../a", ""},
		{"empty directory", "", "/a", ""},
		{"empty directory and name", "", "a", ""},
		{"empty path", "/a", "", ""},
		{"both empty", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if rel, ok := relPOSIX(tt.dir, tt.path); rel != tt.rel && ok || ok != (tt.rel != "") {
				t.Errorf("relPOSIX(%q, %q) = %q, %v, want %q", tt.dir, tt.path, rel, ok, tt.rel)
			}
			if runtime.GOOS == "windows" {
				return
			}
			if got, want := Contains(tt.dir, tt.path), tt.rel != ""; got != want {
				t.Errorf("Contains(%q, %q) = %v, want %v", tt.dir, tt.path, got, want)
			}
		})
	}
}

func TestContains_Windows(t *testing.T) {
	tests := []struct {
		name      string
		dir, path string
		rel       string
	}{
		{"itself", `C:\a\b`, `C:\a\b`, "."},
		{"child", `C:\a\b`, `C:\a\b\c`, "c"},
		{"whole names", `C:\a\b`, `C:\a\bc`, ""},
		{"separators", `C:\a\b`, `C:/a/b/c`, "c"},
		{"separators in what is left", `C:/a`, `C:\a\b\c`, "b/c"},
		{"case, spelling kept", `C:\Users\Me`, `c:\users\me\Doc.txt`, "Doc.txt"},
		{"volume holds all", `C:\`, `C:\a`, "a"},
		{"volume holds itself", `C:\`, `c:/`, "."},
		{"other volume", `C:\a`, `D:\a\b`, ""},
		{"volume without a slash", `C:`, `C:\a`, ""},
		{"slash at the end", `C:\a\`, `C:\a\b\`, "b"},
		{"dots that lead out", `C:\a\b`, `C:\a\b\..\c`, ""},
		{"share", `\\host\share\a`, `\\HOST\share\a\b`, "b"},
		{"a share is no rooted path", `\host\share`, `\\host\share\a`, ""},
		{"here holds no volume", `.`, `C:\a`, ""},
		{"empty", ``, `C:\a`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if rel, ok := relWindows(tt.dir, tt.path); rel != tt.rel && ok || ok != (tt.rel != "") {
				t.Errorf("relWindows(%q, %q) = %q, %v, want %q", tt.dir, tt.path, rel, ok, tt.rel)
			}
		})
	}
}

func TestInnermost(t *testing.T) {
	t.Parallel()
	dirs := []string{"/a", "/a/b/c", "/a/b", ""}
	for path, want := range map[string]string{"/a/b/c/d": "/a/b/c", "/a/b/cd": "/a/b", "/a": "/a", "/x": ""} {
		if got := Innermost(dirs, path); got != want {
			t.Errorf("Innermost(%q) = %q, want %q", path, got, want)
		}
	}
}
