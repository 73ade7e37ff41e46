package journal

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newJournal makes a journal over a directory, and returns a count of the
// pre-images in it.
func newJournal(t *testing.T, change ...func(*Options)) (*Journal, func() int) {
	t.Helper()
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	o := Options{Dir: func() (*os.Root, error) { return dir, nil }}
	for _, f := range change {
		f(&o)
	}
	return New(o), func() int {
		entries, err := os.ReadDir(dir.Name())
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
}

// modified records the change of a file that held text.
func modified(t *testing.T, j *Journal, operation, path, text string) *Entry {
	t.Helper()
	e := j.Stage(Origin{Operation: operation})
	c, kept, err := e.Keep(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Commit(Record{Path: path, Kind: Modified, Before: State{Form: File, Content: c, Kept: kept}})
	return e
}

func TestJournal_SharesContent(t *testing.T) {
	t.Parallel()
	j, images := newJournal(t)
	var kept [10]*Entry
	var all sync.WaitGroup
	for i := range kept {
		all.Go(func() { kept[i] = modified(t, j, "call", "/f", "same bytes") })
	}
	all.Wait()
	if got := images(); got != 1 {
		t.Errorf("%d pre-images, want 1", got)
	}
	for i, e := range kept {
		var b strings.Builder
		if err := j.CopyTo(&b, e.Records[0].Before.Content); err != nil || b.String() != "same bytes" {
			t.Errorf("pre-image %d: %q, %v", i, b.String(), err)
		}
		j.TakenBack(e)
	}
	if got := images(); got != 0 {
		t.Errorf("%d pre-images after all was taken back", got)
	}
}

func TestJournal_Order(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(t)
	first := modified(t, j, "one", "/a", "1")
	second := modified(t, j, "two", "/a", "2")
	third := modified(t, j, "one", "/b", "3")
	if j.Last("/a") != second || j.Last("/x", "/b") != third || j.Last("/x") != nil {
		t.Error("Last is not the newest change of the file")
	}
	if diff := cmp.Diff([]string{"/b", "/a"}, []string{j.Of("one")[0].Records[0].Path, j.Of("one")[1].Records[0].Path}); diff != "" {
		t.Errorf("an operation's changes (-want +got):\n%s", diff)
	}
	j.TakenBack(second)
	if j.Last("/a") != first || len(j.Modified("two")) != 0 {
		t.Error("a change that was taken back is still there")
	}
}

func TestJournal_DropKeepsNothing(t *testing.T) {
	t.Parallel()
	j, images := newJournal(t)
	e := j.Stage(Origin{Operation: "call"})
	if _, _, err := e.Keep(strings.NewReader("bytes")); err != nil {
		t.Fatal(err)
	}
	e.Drop()
	if images() != 0 || j.Of("call") != nil || j.Operations() != nil {
		t.Error("a dropped entry left something behind")
	}
}

// TestJournal_MakesRoom loses whole operations, the oldest first, but of the
// running one no more than it must.
func TestJournal_MakesRoom(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(t, func(o *Options) { o.MaxBytes = 30 })
	text := func(letter string) string { return strings.Repeat(letter, 10) }
	entries := []*Entry{
		modified(t, j, "old", "/a", text("a")),
		modified(t, j, "old", "/b", text("b")),
		modified(t, j, "new", "/c", text("c")),
		modified(t, j, "new", "/d", text("d")),
		modified(t, j, "new", "/e", text("e")),
		modified(t, j, "new", "/f", text("f")),
	}
	var lost []bool
	for _, e := range entries {
		lost = append(lost, e.Lost())
	}
	if diff := cmp.Diff([]bool{true, true, true, false, false, false}, lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	if huge := modified(t, j, "new", "/g", strings.Repeat("g", 31)); !huge.Lost() {
		t.Error("more than the bound was kept")
	}
}

func TestJournal_ForgetsTheOldest(t *testing.T) {
	t.Parallel()
	j, images := newJournal(t, func(o *Options) { o.MaxChanges = 4 })
	for _, letter := range []string{"a", "b", "c", "d", "e"} {
		modified(t, j, letter, "/"+letter, letter)
	}
	if j.Last("/b") != nil || j.Last("/c") == nil || len(j.Operations()) != 3 || images() != 3 {
		t.Errorf("what is left: %v, %d pre-images", j.Operations(), images())
	}
}

// fickle is a file that holds other bytes once it was read to its end.
type fickle struct{ r *strings.Reader }

func (f *fickle) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil {
		f.r = strings.NewReader("other bytes")
	}
	return n, err
}

func (f *fickle) Seek(offset int64, whence int) (int64, error) { return f.r.Seek(offset, whence) }

func TestEntry_Keep_Fails(t *testing.T) {
	t.Parallel()
	t.Run("changes while it is read", func(t *testing.T) {
		j, images := newJournal(t)
		_, _, err := j.Stage(Origin{}).Keep(&fickle{strings.NewReader("bytes")})
		if !errors.Is(err, ErrOther) || images() != 0 {
			t.Errorf("error %v, %d pre-images", err, images())
		}
	})
	for _, step := range []string{"preimage", "syncimage"} {
		t.Run(step, func(t *testing.T) {
			j, images := newJournal(t, func(o *Options) {
				o.Fault = func(s string) error {
					if s == step {
						return os.ErrPermission
					}
					return nil
				}
			})
			_, _, err := j.Stage(Origin{}).Keep(strings.NewReader("bytes"))
			if !errors.Is(err, os.ErrPermission) || images() != 0 {
				t.Errorf("error %v, %d pre-images", err, images())
			}
		})
	}
}

func TestJournal_Since(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(t)
	modified(t, j, "one", "/a", "1")
	mark := j.Mark()
	modified(t, j, "one", "/b", "1")
	j.Note(Origin{Operation: "two"}, Change{Path: "/c", Kind: Deleted})
	if diff := cmp.Diff(map[string]bool{"/b": true, "/c": true}, j.Since(mark)); diff != "" {
		t.Errorf("since the mark (-want +got):\n%s", diff)
	}
}

// TestJournal_Within follows the calls that delegated, from the agent up.
func TestJournal_Within(t *testing.T) {
	j := New(Options{})
	j.Nest("top", "")
	j.Nest("middle", "top")
	j.Nest("low", "middle")
	j.Nest("low", "elsewhere") // what a call belongs to does not change
	j.Nest("alone", "alone")
	j.Nest("round", "about")
	j.Nest("about", "round")
	for _, tt := range []struct {
		parent, operation string
		want              bool
	}{
		{"", "call", true},
		{"", "", false},
		{"", "top", false},
		{"low", "low", true},
		{"low", "middle", true},
		{"low", "top", true},
		{"low", "elsewhere", false},
		{"middle", "low", false},
		{"middle", "", false},
		{"alone", "alone", true},
		{"alone", "top", false},
		{"round", "about", true},
		{"round", "top", false},
	} {
		if got := j.Within(Origin{Operation: "call", Parent: tt.parent}, tt.operation); got != tt.want {
			t.Errorf("a call below %q within %q: %v", tt.parent, tt.operation, got)
		}
	}
}
