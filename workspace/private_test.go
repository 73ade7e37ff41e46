package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
	"acp-agent/workspace/private"
)

func TestSidecar(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	c := g.Call("call_1", "bash", nil)
	c.Finish() // a result is cut after the tool has ended
	s, err := c.Sidecar()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("whole output")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^bash-output-prt_[0-9a-z]{26}$`).MatchString(filepath.Base(s.Path())) {
		t.Errorf("name %q", filepath.Base(s.Path()))
	}
	if access, err := g.Check(s.Path(), false); err != nil || !access.Inside {
		t.Errorf("the sidecar is not inside the read scope: %+v, %v", access, err)
	}
	text, err := g.call(t).FS().ReadText(t.Context(), s.Path())
	if err != nil || text.Content != "whole output" {
		t.Errorf("read %+v, %v", text, err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{g.state: 0o700, filepath.Dir(s.Path()): 0o700, s.Path(): 0o600} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "mode of "+path, info.Mode().Perm(), want)
		}
	}
	g.Close(time.Second)
	if _, err := os.Stat(filepath.Dir(s.Path())); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}

func TestSidecar_Quota(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) {
		o.Limits = tools.CanonicalLimits()
		o.Limits.SidecarBytes = 10
	})
	c := g.call(t)
	write := func(text string) (dropped int64, path string) {
		s, err := c.Sidecar()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, part := range strings.SplitAfter(text, " ") {
			if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("Write = %d, %v", n, err)
			}
		}
		return s.Dropped(), s.Path()
	}
	dropped, _ := write("1234567")
	same(t, "dropped", dropped, int64(0))
	dropped, path := write("ab cd ef")
	same(t, "dropped", dropped, int64(5))
	same(t, "kept", get(t, path), "ab ")
	dropped, _ = write("xyz")
	same(t, "dropped", dropped, int64(3))
}

func TestSidecar_OtherSession(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	// The other session works in the directory above both private ones.
	other, err := New(Options{SessionID: "ses_other", Directories: Directories{Cwd: filepath.Dir(g.cwd), State: g.state}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(0)
	s, err := g.call(t).Sidecar()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if access, err := other.Check(s.Path(), false); err == nil {
		t.Errorf("another session may read the sidecar: %+v", access)
	}
	c := other.Call("call_1", "read", nil)
	defer c.Finish()
	if _, err := c.FS().Open(t.Context(), s.Path()); err == nil {
		t.Error("another session read the sidecar")
	}
	if err := c.FS().WriteText(t.Context(), g.Session().Scratch+"/x", "x", nil); err == nil {
		t.Error("another session wrote into the scratch directory")
	}
}

func TestPrivate_RefusesSharedParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("mode bits mean nothing here")
	}
	g := newFixture(t)
	if err := os.Mkdir(g.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(g.state, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := g.call(t).Sidecar(); err == nil || !strings.Contains(err.Error(), "private directory") {
		t.Errorf("err = %v", err)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	if _, err := g.call(t).Sidecar(); err != nil {
		t.Fatal(err)
	}
	// What a killed process leaves: a directory without a lock held, links in
	// it, and a temporary file beside the user's file.
	dead := filepath.Join(g.state, "ses_dead-"+strings.Repeat("a", 26))
	keep := put(t, filepath.Join(g.outside, "keep"), "keep")
	put(t, filepath.Join(dead, "bash-output-x"), "x")
	put(t, filepath.Join(dead, "lock"), "")
	link(t, g.outside, filepath.Join(dead, "link"))
	temp := put(t, g.in(".acp-agent-"+strings.Repeat("b", 26)+".tmp"), "half")
	put(t, filepath.Join(dead, private.RunName, "temps"), fmt.Sprintf("{\"temp\":%q}\n{\"temp\":%q}\n{\"temp\":%q}\nnonsense\n{\"temp\":%q", temp, keep, g.in("gone"), temp+"cut"))
	fresh := filepath.Join(g.state, "ses_nolock-"+strings.Repeat("c", 26))
	put(t, filepath.Join(fresh, "x"), "x")
	strange := put(t, filepath.Join(g.state, "notes", "x"), "not ours")

	removed, err := Sweep(g.state)
	if err != nil || removed != 2 {
		t.Errorf("Sweep = %d, %v", removed, err)
	}
	for _, path := range []string{dead, fresh, temp} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there", path)
		}
	}
	same(t, "file behind the link", get(t, keep), "keep")
	same(t, "foreign directory", get(t, strange), "not ours")
	if _, err := g.call(t).Sidecar(); err != nil {
		t.Errorf("the living session lost its directory: %v", err)
	}
	if removed, err := Sweep(filepath.Join(g.state, "gone")); removed != 0 || err != nil {
		t.Errorf("Sweep of nothing = %d, %v", removed, err)
	}
}

// TestSweep_DuringCreation lets sessions start while others are swept.
func TestSweep_DuringCreation(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	stop, done := make(chan struct{}), make(chan struct{})
	if err := os.Mkdir(g.state, 0o700); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = Sweep(g.state)
			}
		}
	}()
	for range testreq.Rounds(40, 200) {
		w, err := New(Options{SessionID: "ses_new", Directories: Directories{Cwd: g.cwd, State: g.state}})
		if err != nil {
			t.Fatal(err)
		}
		c := w.Call("call_1", "bash", nil)
		s, err := c.Sidecar()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.Path()); err != nil {
			t.Errorf("a living session was swept: %v", err)
		}
		s.Close()
		w.Close(0)
	}
	close(stop)
	<-done
}

func TestPrivate_TemporaryParent(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) { o.Directories.State = "" })
	s, err := g.call(t).Sidecar()
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	g.Close(0)
	if _, err := os.Stat(filepath.Dir(s.Path())); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
