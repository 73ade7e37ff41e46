package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
)

// require finds a kind, or ends the test where the machine has none.
func require(t testing.TB, kind Kind) Report {
	t.Helper()
	if runtime.GOOS != "linux" && kind != Seatbelt || runtime.GOOS != "darwin" && kind == Seatbelt {
		t.Skip("of another system")
	}
	f := Finder{Launcher: launcher(t), Dir: t.TempDir(), Level: kind}
	defer f.Launcher.Dismiss()
	r := f.Find(t.Context())
	if r.Kind != kind {
		testreq.Skip(t, r.Refused)
	}
	return r
}

func TestFind(t *testing.T) {
	for _, kind := range candidates() {
		t.Run(string(kind), func(t *testing.T) {
			if r := require(t, kind); !r.Network || r.Refused != "" {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("auto takes the strongest", func(t *testing.T) {
		f := Finder{Launcher: launcher(t), Dir: t.TempDir()}
		r := f.Find(t.Context())
		for _, kind := range candidates() {
			if (&Finder{Launcher: f.Launcher, Dir: f.Dir, Level: kind}).Find(t.Context()).Kind == kind {
				if r.Kind != kind {
					t.Errorf("found %q where %q works", r.Kind, kind)
				}
				return
			}
		}
		if r.Kind != None || r.Refused != "" || len(r.Notes) == 0 {
			t.Errorf("nothing works, and the finding is %+v", r)
		}
	})
	t.Run("none by hand", func(t *testing.T) {
		r := (&Finder{Launcher: launcher(t), Dir: t.TempDir(), Level: None}).Find(t.Context())
		if r.Kind != None || r.Refused != "" || len(r.Notes) != 1 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("the agent ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, kind := range append(candidates(), "") {
			r := (&Finder{Launcher: launcher(t), Dir: t.TempDir(), Level: kind}).Find(ctx)
			if len(candidates()) > 0 && r.Refused == "" {
				t.Errorf("%q: commands would run with %+v", kind, r)
			}
		}
	})
	t.Run("what killed agents left", func(t *testing.T) {
		f := Finder{Launcher: launcher(t), Dir: t.TempDir()}
		for name, age := range map[string]time.Duration{"trial-old": 2 * leftoverAge, "trial-new": 0, "other": 2 * leftoverAge} {
			dir := filepath.Join(f.Dir, name)
			then := time.Now().Add(-age)
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, "inside"), 0o700), os.Chtimes(dir, then, then)); err != nil {
				t.Fatal(err)
			}
		}
		running, unlock, err := f.trialDir()
		if err != nil {
			t.Fatal(err)
		}
		killed, abandon, err := f.trialDir()
		if err != nil {
			t.Fatal(err)
		}
		abandon()
		if _, end, err := f.trialDir(); err != nil {
			t.Fatal(err)
		} else {
			defer end()
		}
		defer unlock()
		for name, want := range map[string]bool{
			"trial-old": false, "trial-new": true, "other": true, filepath.Base(running): true, filepath.Base(killed): false,
		} {
			if _, err := os.Lstat(filepath.Join(f.Dir, name)); (err == nil) != want {
				t.Errorf("%s is there: %v, want %v", name, err == nil, want)
			}
		}
	})
	t.Run("required and not there", func(t *testing.T) {
		absent := Seatbelt
		if runtime.GOOS == "darwin" {
			absent = Landlock
		}
		r := (&Finder{Launcher: launcher(t), Dir: t.TempDir(), Level: absent}).Find(t.Context())
		if r.Kind != None || !strings.Contains(r.Refused, string(absent)) {
			t.Errorf("%+v", r)
		}
	})
}
