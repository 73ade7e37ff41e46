package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/launch"
)

// memoryIn is the memory of a process whose binary is a file in the directory.
func memoryIn(t *testing.T, dir string) *Memory {
	t.Helper()
	self := filepath.Join(dir, "agent")
	if _, err := os.Stat(self); err != nil {
		if err := os.WriteFile(self, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &Memory{
		Finder: &Finder{Launcher: &launch.Launcher{Self: self}, Dir: filepath.Join(dir, "trials")},
		Path:   filepath.Join(dir, "state", "sandbox.json"),
	}
}

// R157: the next process expects what the last one found, unless something that the trial
// depends on has changed, or the file is not to be believed.
func TestMemory(t *testing.T) {
	found := Report{Kind: Bubblewrap, Network: true, Notes: []string{"note"}, Program: "/usr/bin/bwrap"}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string, m *Memory)
		want   bool
	}{
		{"nothing", func(*testing.T, string, *Memory) {}, true},
		{"no file", func(t *testing.T, _ string, m *Memory) { remove(t, m.Path) }, false},
		{"another binary", func(t *testing.T, dir string, _ *Memory) {
			if err := os.Chtimes(filepath.Join(dir, "agent"), time.Time{}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"another configuration", func(_ *testing.T, _ string, m *Memory) { m.Finder.Level = Landlock }, false},
		{"broken", func(t *testing.T, _ string, m *Memory) { writeText(t, m.Path, "{") }, false},
		{"too long", func(t *testing.T, _ string, m *Memory) { writeText(t, m.Path, strings.Repeat(" ", mostKept+1)) }, false},
		{"open to others", func(t *testing.T, _ string, m *Memory) {
			if err := os.Chmod(m.Path, 0o644); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a link", func(t *testing.T, dir string, m *Memory) {
			if err := os.Rename(m.Path, filepath.Join(dir, "there")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(dir, "there"), m.Path); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if _, ok := memoryIn(t, dir).Expected(); ok {
				t.Error("something was expected before anything was found")
			}
			if err := memoryIn(t, dir).Keep(t.Context(), found); err != nil {
				t.Fatal(err)
			}
			next := memoryIn(t, dir)
			tt.change(t, dir, next)
			report, ok := next.Expected()
			if ok != tt.want || ok && (report.Kind != found.Kind || !report.Network) {
				t.Errorf("expected %v, %v", report, ok)
			}
		})
	}
}

// What cannot be written is only not known to the next process.
func TestMemory_Unwritable(t *testing.T) {
	dir := t.TempDir()
	m := memoryIn(t, dir)
	writeText(t, filepath.Join(dir, "state"), "a file")
	if err := m.Keep(t.Context(), Report{Kind: Landlock}); err == nil {
		t.Error("it was written")
	}
	dir = t.TempDir()
	m = memoryIn(t, dir)
	if err := os.Mkdir(filepath.Dir(m.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(m.Path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := m.Keep(t.Context(), Report{Kind: Landlock}); err == nil || !missing(m.Path+".lock") {
		t.Errorf("where others may write: %v", err)
	}
	dir = t.TempDir()
	m = memoryIn(t, dir)
	m.ReadOnly = true
	if err := m.Keep(t.Context(), Report{Kind: Landlock}); err != nil || !missing(m.Path) {
		t.Errorf("read-only: %v", err)
	}
}

// A sandbox that is switched off needs no trial to be known.
func TestMemory_Certain(t *testing.T) {
	m := memoryIn(t, t.TempDir())
	m.Finder.Level = None
	if report, ok := m.Expected(); !ok || report.Confines() {
		t.Errorf("expected %v, %v", report, ok)
	}
}

// Stop waits until the finding is kept, so that nothing is written after it.
func TestProbe_KeepsTheFinding(t *testing.T) {
	m := memoryIn(t, t.TempDir())
	p := NewProbe(func(context.Context) Report { return Report{Kind: Landlock} })
	p.Memory = m
	if _, ok := p.Expected(); ok {
		t.Error("something was expected")
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	next := memoryIn(t, filepath.Dir(m.Finder.Dir))
	if report, ok := next.Expected(); !ok || report.Kind != Landlock {
		t.Errorf("expected %v, %v", report, ok)
	}
}

func BenchmarkMemory_Expected(b *testing.B) {
	dir := b.TempDir()
	self := filepath.Join(dir, "agent")
	if err := os.WriteFile(self, nil, 0o700); err != nil {
		b.Fatal(err)
	}
	fresh := func() *Memory {
		return &Memory{Finder: &Finder{Launcher: &launch.Launcher{Self: self}, Dir: dir}, Path: filepath.Join(dir, "sandbox.json")}
	}
	if err := fresh().Keep(b.Context(), Report{Kind: Bubblewrap}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := fresh().Expected(); !ok {
			b.Fatal("nothing was expected")
		}
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
