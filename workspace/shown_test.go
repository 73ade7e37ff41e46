package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestShown holds what a command that reads an opened directory does not see of it: secrets, what git keeps of the content of
// files in whichever repository, and a directory that cannot be listed.
func TestShown(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	top := filepath.Join(g.outside, "other")
	for _, name := range []string{
		"a.txt", ".env", "HEAD", "lfs", "sub/b.txt", "sub/.env", ".git/HEAD", ".git/objects/ab/cd", ".git/lfs/objects/x",
		"bare.git/HEAD", "bare.git/objects/ab/cd", ".git/modules/m/HEAD", ".git/modules/m/objects/x",
		".svn/pristine/ab/x", ".svn/entries", "sub/.hg/store/data/x",
	} {
		put(t, filepath.Join(top, filepath.FromSlash(name)), "x")
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(top, filepath.FromSlash(name)))
		}
		return paths
	}
	access, err := g.Check(in("a.txt")[0], false)
	if err != nil {
		t.Fatal(err)
	}
	if g.Opened() {
		t.Error("something is opened before an answer")
	}
	g.Grant("call", access, true)
	objects := in(".git/objects", ".git/lfs", ".git/modules/m/objects", "lfs", "bare.git/objects")
	for path, want := range map[string]Shown{
		top:                       {Path: top, Opened: true, Secrets: in(".env", ".svn/pristine", "sub/.env", "sub/.hg/store"), Objects: objects},
		in("sub")[0]:              {Path: in("sub")[0], Opened: true, Secrets: in("sub/.env", "sub/.hg/store")},
		in("a.txt")[0]:            {Path: in("a.txt")[0], Opened: true},
		in("bare.git/objects")[0]: {Path: in("bare.git/objects")[0], Opened: true, IsObject: true},
		in(".git/objects/ab")[0]:  {Path: in(".git/objects/ab")[0], Opened: true, IsObject: true},
		in(".env")[0]:             {},
		g.in("x"):                 {},
	} {
		if diff := cmp.Diff(want, g.Shown(path), cmpopts.IgnoreFields(Shown{}, "Info")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestShown_Changed holds that a secret is hidden from the moment that it is there, also right after a look that has not found it.
func TestShown_Changed(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	top := filepath.Join(g.outside, "other")
	put(t, filepath.Join(top, "sub", "a.txt"), "x")
	access, err := g.Check(top, false)
	if err != nil {
		t.Fatal(err)
	}
	g.Grant("call", access, true)
	if shown := g.Shown(top); shown.Path != top || len(shown.Secrets) > 0 {
		t.Fatalf("%+v", shown)
	}
	secret := filepath.Join(top, "sub", ".env")
	put(t, secret, "x")
	if shown := g.Shown(top); !cmp.Equal(shown.Secrets, []string{secret}) {
		t.Errorf("made: %+v", shown)
	}
	if err := os.Rename(filepath.Dir(secret), filepath.Join(top, "moved")); err != nil {
		t.Fatal(err)
	}
	if shown := g.Shown(top); !cmp.Equal(shown.Secrets, []string{filepath.Join(top, "moved", ".env")}) {
		t.Errorf("renamed: %+v", shown)
	}
}

// TestShown_Closed holds that a directory that holds too much to be looked through is closed, with the reason.
func TestShown_Closed(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	top := filepath.Join(g.outside, "many")
	for i := range maxShownHidden + 2 {
		put(t, filepath.Join(top, "d"+string(rune('a'+i%26))+string(rune('a'+i/26)), ".env"), "x")
	}
	if shown := g.Shown(top); shown.Path != "" || shown.Closed == "" {
		t.Errorf("%+v", shown)
	}
	if os.Getuid() == 0 {
		return // root lists what it may not list
	}
	unlisted := filepath.Join(g.outside, "some", "closed")
	if err := os.MkdirAll(unlisted, 0o300); err != nil {
		t.Fatal(err)
	}
	if shown := g.Shown(filepath.Dir(unlisted)); !cmp.Equal(shown.Secrets, []string{unlisted}) {
		t.Errorf("%+v", shown)
	}
}

// TestShown_Swapped has another directory in the place of an opened one while it is looked through: what was found there says
// nothing of the opened one.
func TestShown_Swapped(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	top := filepath.Join(g.outside, "other")
	put(t, filepath.Join(top, ".env"), "x")
	put(t, filepath.Join(g.outside, "decoy", "a.txt"), "x")
	access, err := g.Check(top, false)
	if err != nil {
		t.Fatal(err)
	}
	g.Grant("call", access, true)
	decoy, err := os.Stat(filepath.Join(g.outside, "decoy"))
	if err != nil {
		t.Fatal(err)
	}
	g.looked.dirs = map[string]hiddenNames{top: {top: decoy, at: time.Now()}}
	if shown := g.Shown(top); shown.Path != "" || shown.Closed == "" {
		t.Errorf("got %+v", shown)
	}
}
