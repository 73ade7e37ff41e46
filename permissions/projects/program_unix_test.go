//go:build unix

package projects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/permissions/projects"
)

// T4: what the configuration has a program run is part of what is trusted, wherever links
// lead; what is not a file of the project is not.
func TestSnapshot_With(t *testing.T) {
	tests := []struct {
		name    string
		names   []string
		change  func(t *testing.T, dir string)
		changes bool
		problem string
	}{
		{"nothing is named", nil, write("run.sh", "2"), false, ""},
		{"a script", []string{"run.sh"}, write("run.sh", "2"), true, ""},
		{"another file", []string{"run.sh"}, write("other.sh", "2"), false, ""},
		{"a script that comes later", []string{"late.sh"}, write("late.sh", "1"), true, ""},
		{"a link that is turned inside", []string{"link.sh"}, link("other.sh", "link.sh"), true, ""},
		{"a link that is turned from outside to outside", []string{"out.sh"}, link("/bin/cat", "out.sh"), true, ""},
		{"a script in place of a link", []string{"out.sh"}, write("out.sh", "1"), true, ""},
		{"a directory", []string{"sub"}, write("sub/run.sh", "2"), false, ""},
		{"a word that names nothing", []string{"--stdio", "a\x00b", strings.Repeat("x", 5000), "../run.sh", ""}, write("run.sh", "2"), false, ""},
		{"a program of much size", []string{"run.sh"}, size("run.sh", 33<<20), false, "too large to be trusted, at run.sh"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(".acp-agent/config.jsonc", "{}")(t, dir)
			write("run.sh", "1")(t, dir)
			write("other.sh", "1, too")(t, dir)
			write("sub/run.sh", "1")(t, dir)
			link("run.sh", "link.sh")(t, dir)
			link("/bin/sh", "out.sh")(t, dir)
			look := func() (projects.Snapshot, error) {
				s, err := projects.Scan(dir)
				if err != nil {
					t.Fatal(err)
				}
				return s.With(dir, tt.names)
			}
			before, err := look()
			if err != nil {
				t.Fatal(err)
			}
			tt.change(t, dir)
			after, err := look()
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (before.Hash != after.Hash) != tt.changes || before.Config != after.Config {
				t.Errorf("changed: %v, want %v; the configuration's: %v", before.Hash != after.Hash, tt.changes, before.Config != after.Config)
			}
		})
	}
}

func write(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, name)
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		_ = os.Remove(path)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func link(to, name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		_ = os.Remove(filepath.Join(dir, name))
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func size(name string, bytes int64) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.Truncate(filepath.Join(dir, name), bytes); err != nil {
			t.Fatal(err)
		}
	}
}
