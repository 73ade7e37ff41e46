package projects_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
)

func kept(permission, pattern string) permissions.Rule {
	return permissions.Rule{
		Permission: permission, Pattern: pattern, Action: capability.Allow, Source: permissions.SourceAlways,
		AddedAt: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC),
	}
}

func keep(rules ...permissions.Rule) func(*projects.Record) error {
	return func(r *projects.Record) error { return r.AddRules(rules...) }
}

// recordFile is the one file of a record in the store.
func recordFile(t *testing.T, data string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "projects", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v, want one", files, err)
	}
	return files[0]
}

func TestStore_RoundTrip(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	store := projects.New(data)
	if record, err := store.Load("/work/shop"); err != nil || record.Trust != nil || len(record.Rules) > 0 {
		t.Fatalf("before: %+v, %v", record, err)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Error("looking made the directory")
	}
	rule, other := kept("bash", "npm test *"), kept("edit", "/work/shop/a.go")
	again := rule
	again.AddedAt = again.AddedAt.Add(time.Hour)
	for _, change := range []func(*projects.Record) error{keep(rule, other), keep(again)} {
		if err := store.Update("/work/shop", change); err != nil {
			t.Fatal(err)
		}
	}
	record, err := projects.New(data).Load("/work/shop")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]permissions.Rule{rule, other}, record.Rules); diff != "" {
		t.Errorf("rules, each once and as they were (-want +got):\n%s", diff)
	}
	if elsewhere, err := store.Load("/work/shop2"); err != nil || len(elsewhere.Rules) > 0 {
		t.Errorf("another project has %v, %v", elsewhere.Rules, err)
	}
	if all, err := store.All(); err != nil || len(all) != 1 || all[0].Path != "/work/shop" {
		t.Errorf("all: %+v, %v", all, err)
	}
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{data: 0o700, filepath.Join(data, "projects"): 0o700, recordFile(t, data): 0o600} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, want %v (%v)", name, info.Mode().Perm(), want, err)
			}
		}
	}
	err = store.Update("/work/shop", func(r *projects.Record) error {
		if !r.RemoveRule(rule) || !r.RemoveRule(other) || r.RemoveRule(other) {
			t.Error("revoking takes a rule away, once")
		}
		return nil
	})
	if all, allErr := store.All(); err != nil || allErr != nil || len(all) > 0 {
		t.Errorf("an empty record stays: %+v, %v, %v", all, err, allErr)
	}
}

func TestStore_RefusesWhatNoAnswerStores(t *testing.T) {
	store := projects.New(t.TempDir())
	wrong := kept("bash", "rm x")
	wrong.Action = capability.Deny
	foreign := kept("bash", "rm x")
	foreign.Source = "a file"
	for _, rule := range []permissions.Rule{wrong, foreign, kept("*", "x"), kept("", "x"), kept("bash", "")} {
		if err := store.Update("/p", keep(rule)); err == nil {
			t.Errorf("%+v was kept", rule)
		}
	}
	if all, err := store.All(); len(all) > 0 || err != nil {
		t.Errorf("something was written: %v, %v", all, err)
	}
}

// TestStore_Broken holds that a record which cannot be used grants nothing, is said, and
// keeps no one from deciding anew.
func TestStore_Broken(t *testing.T) {
	const about = `"path": "/p"`
	for _, tt := range []struct {
		name, text string
		aside      bool
	}{
		{"cut", `{"version": 1, "pa`, true},
		{"empty", ``, true},
		{"no version", `{` + about + `}`, true},
		{"of another project", `{"version": 1, "path": "/q", "rules": []}`, true},
		{"an action that is none", `{"version": 1, ` + about + `, "rules": [{"permission": "bash", "pattern": "x", "action": "alow"}]}`, true},
		{"a rule for everything", `{"version": 1, ` + about + `, "rules": [{"permission": "*", "pattern": "*", "action": "allow"}]}`, true},
		{"of a newer version", `{"version": 2, ` + about + `}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := t.TempDir()
			store := projects.New(data)
			if err := store.Update("/p", keep(kept("bash", "x"))); err != nil {
				t.Fatal(err)
			}
			name := recordFile(t, data)
			if err := os.WriteFile(name, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := store.ReadOnly().Load("/p"); err == nil {
				t.Error("a look finds nothing wrong")
			}
			if text, _ := os.ReadFile(name); string(text) != tt.text {
				t.Errorf("a look left %q", text)
			}
			record, err := store.Load("/p")
			broken, ok := errors.AsType[*projects.BrokenError](err)
			if !ok || len(record.Rules) > 0 || record.Trust != nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("got %+v, %v", record, err)
			}
			if (broken.Aside != "") != tt.aside {
				t.Fatalf("set aside as %q, want %v", broken.Aside, tt.aside)
			}
			again := store.Update("/p", keep(kept("bash", "y")))
			if !tt.aside {
				if text, _ := os.ReadFile(name); again == nil || string(text) != tt.text {
					t.Errorf("a newer version's record was written over: %v", again)
				}
				return
			}
			if text, _ := os.ReadFile(broken.Aside); string(text) != tt.text {
				t.Errorf("aside stands %q", text)
			}
			if record, err := store.Load("/p"); again != nil || err != nil || len(record.Rules) != 1 {
				t.Errorf("afterwards: %+v, %v, %v", record, again, err)
			}
		})
	}
}

// TestStore_SourceIsOurs holds that a record cannot make its rules wider by what it says
// of their source.
func TestStore_SourceIsOurs(t *testing.T) {
	data := t.TempDir()
	store := projects.New(data)
	if err := store.Update("/p", keep(kept("bash", "npm test *"))); err != nil {
		t.Fatal(err)
	}
	name := recordFile(t, data)
	text, err := os.ReadFile(name)
	if err != nil || os.WriteFile(name, []byte(strings.ReplaceAll(string(text), `"source": "always"`, `"source": "the user's file"`)), 0o600) != nil {
		t.Fatal(err)
	}
	record, err := store.Load("/p")
	if err != nil || len(record.Rules) != 1 || record.Rules[0].Source != permissions.SourceAlways {
		t.Errorf("got %+v, %v", record.Rules, err)
	}
}

func TestStore_OthersCannotDecide(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mode bits mean nothing here")
	}
	for name, spoil := range map[string]func(dir, file string) error{
		"a file that others may write":      func(_, file string) error { return os.Chmod(file, 0o666) },
		"a directory that others may write": func(dir, _ string) error { return os.Chmod(dir, 0o777) },
		"a link": func(dir, file string) error {
			return errors.Join(os.Rename(file, file+".real"), os.Symlink(file+".real", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			store := projects.New(data)
			if err := store.Update("/p", keep(kept("bash", "x"))); err != nil {
				t.Fatal(err)
			}
			file := recordFile(t, data)
			if err := spoil(filepath.Dir(file), file); err != nil {
				t.Fatal(err)
			}
			if record, err := store.Load("/p"); err == nil || len(record.Rules) > 0 {
				t.Errorf("it was heeded: %+v, %v", record, err)
			}
			if err := store.Update("/p", keep(kept("bash", "y"))); err == nil {
				t.Error("it was written")
			}
		})
	}
}

// TestStore_SideBySide holds that stores of several processes lose nothing of each other.
func TestStore_SideBySide(t *testing.T) {
	data := t.TempDir()
	const writers, each = 4, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			store := projects.New(data)
			for i := range each {
				if err := store.Update("/p", keep(kept("bash", fmt.Sprintf("x %d %d", w, i)))); err != nil {
					t.Error(err)
				}
				if _, err := store.Load("/p"); err != nil {
					t.Errorf("a reader beside the writers: %v", err)
				}
			}
		})
	}
	wg.Wait()
	record, err := projects.New(data).Load("/p")
	if err != nil || len(record.Rules) != writers*each {
		t.Errorf("%d rules, %v, want %d", len(record.Rules), err, writers*each)
	}
}

// TestStore_Leftover holds that what a killed process left behind harms no one.
func TestStore_Leftover(t *testing.T) {
	data := t.TempDir()
	store := projects.New(data)
	if err := store.Update("/p", keep(kept("bash", "x"))); err != nil {
		t.Fatal(err)
	}
	name := recordFile(t, data)
	if err := os.WriteFile(name+".tmp", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := store.Update("/p", keep(kept("bash", "y")))
	if record, loadErr := store.Load("/p"); err != nil || loadErr != nil || len(record.Rules) != 2 {
		t.Errorf("%+v, %v, %v", record, err, loadErr)
	}
	if _, err := os.Stat(name + ".tmp"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the leftover is still there: %v", err)
	}
}

// FuzzStore_Load holds that no text of a record can crash, or grant more than the
// narrowest rules.
func FuzzStore_Load(f *testing.F) {
	f.Add(`{"version": 1, "path": "/p", "rules": [{"permission": "bash", "pattern": "x *", "action": "allow", "source": "default"}]}`)
	f.Add(`{"version": 1, "path": "/p", "trust": {"hash": "x"}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		data := t.TempDir()
		store := projects.New(data)
		if err := store.Update("/p", keep(kept("bash", "x"))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(recordFile(t, data), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		record, err := store.Load("/p")
		if err != nil && (len(record.Rules) > 0 || record.Trust != nil) {
			t.Fatalf("a broken record decides: %+v", record)
		}
		for _, rule := range record.Rules {
			if rule.Action != capability.Allow || rule.Source != permissions.SourceAlways || rule.Permission == "*" {
				t.Fatalf("it grants %+v", rule)
			}
		}
	})
}
