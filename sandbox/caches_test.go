//go:build unix

package sandbox

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
)

// A program with caches of its own writes in no other: neither in the caches of the project's
// commands nor of another program, whose keys it would get with what it put there, nor in
// the user's package directories, although it has the network.
func TestConfine_Caches(t *testing.T) {
	dir := t.TempDir()
	packages, cache := filepath.Join(dir, "packages"), filepath.Join(dir, "cache")
	box := &Box{Probe: NewProbe(func(context.Context) Report { return Report{Kind: Landlock} }), CacheDir: cache, Packages: []string{packages}}
	seen := map[string]string{}
	for _, caches := range []string{"", "mcp one", "mcp two"} {
		c, err := box.Confine(t.Context(), Request{Roots: []string{"/p"}, Network: true, Caches: caches})
		if err != nil {
			t.Fatal(err)
		}
		c.Release()
		if got := slices.Contains(c.Policy.Writable, packages); got != (caches == "") {
			t.Errorf("%q may write in the package directories: %v", caches, got)
		}
		for _, path := range c.Policy.Writable {
			if filepath.Dir(path) != cache {
				continue
			}
			if other, taken := seen[path]; taken {
				t.Errorf("%q and %q have the same caches", caches, other)
			}
			seen[path] = caches
		}
	}
	if len(seen) != 3 {
		t.Errorf("caches %v, want three", seen)
	}
}
