package sandbox

import (
	"runtime"
	"strings"
	"testing"

	"acp-agent/internal/testreq"
)

// require finds a kind, or ends the test where the machine has none.
func require(t testing.TB, kind Kind) Report {
	t.Helper()
	if runtime.GOOS != "linux" && kind != Seatbelt || runtime.GOOS != "darwin" && kind == Seatbelt {
		t.Skip("of another system")
	}
	f := Finder{Launcher: launcher(t), Dir: t.TempDir(), Level: kind}
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
