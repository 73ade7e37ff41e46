package pathname

import (
	"slices"
	"testing"
)

// TestDirs_Contain compares a set with its directories one by one.
func TestDirs_Contain(t *testing.T) {
	names := []string{
		"", ".", "/", "/a", "/a/", "/a/b", "/a//b/", "/a/bc", "/a/b/c", "/a/b/../c", "/a/..b", "/a/./b/c/d", "/A/b", "/.a", "/.a/b",
		"a", "a/b", "../a", "..", `/a\b`,
	}
	sets := [][]string{nil, names}
	for _, one := range names {
		sets = append(sets, []string{one}, []string{one, "/x/y"})
	}
	for _, dirs := range sets {
		set := NewDirs(dirs)
		for _, name := range names {
			want := slices.ContainsFunc(dirs, func(dir string) bool { return Contains(dir, name) })
			if got := set.Contain(name); got != want {
				t.Errorf("%q contain %q: %v, want %v", dirs, name, got, want)
			}
		}
	}
}
