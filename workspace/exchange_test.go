package workspace

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/rootfile"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

// replaceWith writes "ours" over the file "old" and calls meddle between the
// look at the file and the exchange.
func replaceWith(t *testing.T, g *fixture, meddle func()) error {
	t.Helper()
	c := &change{files: g.call(t).files(), text: "ours", before: &tools.Text{Content: "old", Exists: true}}
	return c.at(t.Context(), "write", "file", true, func(p *place) error {
		temp, err := c.disk.writeTemp(p, c.body(nil))
		if err != nil {
			return err
		}
		defer temp.discard()
		return temp.replace(p, func(f *os.File) bool {
			ok := c.same(f)
			if meddle != nil {
				meddle()
				meddle = nil
			}
			return ok
		})
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		meddle func(path string)
		want   string
		fails  bool
	}{
		{"nothing happens", nil, "ours", false},
		{"saved by renaming", func(path string) { _ = savedOver(path, "the user's") }, "the user's", true},
		{"saved in place", func(path string) { _ = os.WriteFile(path, []byte("the user's"), 0o644) }, "the user's", true},
		{"saved as it was", func(path string) { _ = savedOver(path, "old") }, "ours", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newFixture(t)
			put(t, g.in("file"), "old")
			var meddle func()
			if tt.meddle != nil {
				meddle = func() { tt.meddle(g.in("file")) }
			}
			err := replaceWith(t, g, meddle)
			if got := get(t, g.in("file")); exchanges(t, g) {
				same(t, "content", got, tt.want)
				same(t, "failed", err != nil, tt.fails)
			}
			if err != nil && !strings.Contains(err.Error(), "changed since it was read") {
				t.Errorf("error %v", err)
			}
			noTemps(t, g)
		})
	}
	t.Run("deleted", func(t *testing.T) {
		g := newFixture(t)
		put(t, g.in("file"), "old")
		if err := replaceWith(t, g, func() { _ = os.Remove(g.in("file")) }); err == nil && exchanges(t, g) {
			t.Error("a deleted file came back")
		}
		noTemps(t, g)
	})
}

// TestReplace_SavedAgain lets the user go on saving while their first save is given
// back: the newest stays, also when it has the number of a file that is gone by then.
func TestReplace_SavedAgain(t *testing.T) {
	t.Parallel()
	for _, saves := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprint(saves), func(t *testing.T) {
			g := newFixture(t)
			put(t, g.in("file"), "old")
			if !exchanges(t, g) {
				return // the moment between looking and renaming stays open
			}
			c := &change{files: g.call(t).files(), text: "ours", before: &tools.Text{Content: "old", Exists: true}}
			looks := 0
			err := c.at(t.Context(), "write", "file", true, func(p *place) error {
				temp, err := c.disk.writeTemp(p, c.body(nil))
				if err != nil {
					return err
				}
				defer temp.discard()
				return temp.replace(p, func(f *os.File) bool {
					ok := c.same(f)
					looks++
					for i := range saves {
						if looks == 1 && i == 0 || looks == 2 {
							_ = savedOver(g.in("file"), fmt.Sprintf("save %d.%d", looks, i))
						}
					}
					return ok
				})
			})
			if err == nil {
				t.Error("the write is said to have been made")
			}
			same(t, "content", get(t, g.in("file")), fmt.Sprintf("save 2.%d", saves-1))
			noTemps(t, g)
		})
	}
}

// TestGiveBack lets the user save again and again, at any moment, while an earlier save is
// given back: the last one stays.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	if !exchanges(t, g) {
		return
	}
	c := &change{files: g.call(t).files(), text: "ours", before: &tools.Text{Content: "old", Exists: true}}
	for i := range testreq.Rounds(100, 600) {
		put(t, g.in("file"), "old")
		var user sync.WaitGroup
		last, looked := "save", false
		_ = c.at(t.Context(), "write", "file", true, func(p *place) error {
			temp, err := c.disk.writeTemp(p, c.body(nil))
			if err != nil {
				t.Fatal(err)
			}
			defer temp.discard()
			return temp.replace(p, func(f *os.File) bool {
				if looked {
					return c.same(f)
				}
				looked = true
				_ = savedOver(g.in("file"), last) // between the look and the exchange
				user.Go(func() {
					for j := range 1 + i%4 {
						last = fmt.Sprintf("save %d", j)
						_ = savedOver(g.in("file"), last)
					}
				})
				return true
			})
		})
		user.Wait()
		if got := get(t, g.in("file")); got != last {
			t.Fatalf("round %d: the file holds %q, and %q was saved last", i, got, last)
		}
	}
	noTemps(t, g)
}

// exchanges reports whether the file system can swap two names.
func exchanges(t *testing.T, g *fixture) bool {
	t.Helper()
	put(t, g.in("x/a"), "a")
	put(t, g.in("x/b"), "b")
	dir, err := os.OpenRoot(g.in("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	return rootfile.Exchange(dir, "a", "b") == nil
}
