package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fakeRing is a keyring; a problem is the answer to everything.
type fakeRing struct {
	mu      sync.Mutex
	kept    map[string]string
	problem error
	asked   int
}

func (r *fakeRing) get(_ context.Context, key string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if text, ok := r.kept[key]; ok && r.problem == nil {
		return text, nil
	}
	return "", errors.Join(r.problem, errNone)
}

func (r *fakeRing) set(_ context.Context, key, token string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.problem == nil {
		r.kept[key] = token
	}
	return r.problem
}

func (r *fakeRing) remove(_ context.Context, key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	delete(r.kept, key)
	return r.problem
}

func open(t *testing.T, dir string, place Place, r ring) *Store {
	t.Helper()
	s := New(dir, place)
	s.ring = r
	return s
}

func put(t *testing.T, s *Store, name, token string) error {
	t.Helper()
	return s.Update(t.Context(), name, func([]byte) ([]byte, error) {
		if token == "" {
			return nil, nil
		}
		return []byte(token), nil
	})
}

func wantToken(t *testing.T, s *Store, name, want string) {
	t.Helper()
	if got, err := s.Load(t.Context(), name); err != nil || string(got) != want {
		t.Errorf("%s is %q, %v; want %q", name, got, err, want)
	}
}

// R92, D1: tokens are kept in the keyring where it works, else in private files, and
// nowhere else.
func TestStore_Places(t *testing.T) {
	for _, tt := range []struct {
		name    string
		place   Place
		problem error
		file    bool // the token lies in the file
		fails   bool
	}{
		{"the keyring works", Auto, nil, false, false},
		{"there is no keyring", Auto, errors.New("no bus"), true, false},
		{"a file is wanted", File, nil, true, false},
		{"the keyring is wanted and there is none", Keyring, errors.New("no bus"), false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, r := filepath.Join(t.TempDir(), "data"), &fakeRing{kept: map[string]string{}, problem: tt.problem}
			s := open(t, dir, tt.place, r)
			wantToken(t, s, "a", "")
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || r.asked > 0 {
				t.Fatalf("looking made %v and asked the keyring %d times", err, r.asked)
			}
			if err := put(t, s, "a", `{"k":"canary"}`); (err != nil) != tt.fails {
				t.Fatal(err)
			}
			if tt.fails {
				wantToken(t, s, "a", "")
				return
			}
			wantToken(t, open(t, dir, tt.place, r), "a", `{"k":"canary"}`)
			if at, ok := s.Where("a"); !ok || (at == File) != tt.file {
				t.Errorf("it lies in %q, %t", at, ok)
			}
			wantToken(t, s, "b", "")
			data, err := os.ReadFile(s.file("a"))
			if err != nil || strings.Contains(string(data), "canary") != tt.file || (len(r.kept) == 0) != tt.file {
				t.Errorf("the file is %s, %v and the keyring has %d", data, err, len(r.kept))
			}
			private(t, s)
			if err := put(t, s, "a", ""); err != nil {
				t.Fatal(err)
			}
			wantToken(t, s, "a", "")
			if _, err := os.Stat(s.file("a")); !errors.Is(err, fs.ErrNotExist) || len(r.kept) > 0 {
				t.Errorf("after it was removed: %v, and the keyring has %d", err, len(r.kept))
			}
		})
	}
}

// private holds that no one else can read what a store made.
func private(t *testing.T, s *Store) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]fs.FileMode{s.dir: 0o700, s.file("a"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// A token moves when another place is chosen, and leaves nothing where it was.
func TestStore_Moves(t *testing.T) {
	dir, r := t.TempDir(), &fakeRing{kept: map[string]string{}}
	if err := put(t, open(t, dir, Auto, r), "a", `1`); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, File, r)
	wantToken(t, s, "a", "1")
	if err := put(t, s, "a", `2`); err != nil || len(r.kept) > 0 {
		t.Errorf("%v, and the keyring has %d", err, len(r.kept))
	}
	wantToken(t, open(t, dir, Auto, r), "a", "2")
}

// A file that cannot be used counts as none, and one that others can read is refused.
func TestStore_BadFiles(t *testing.T) {
	s := open(t, t.TempDir(), File, &fakeRing{})
	if err := put(t, s, "a", `1`); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", `{"version":9,"token":1}`} {
		if err := os.WriteFile(s.file("a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		wantToken(t, s, "a", "")
	}
	if err := put(t, s, "a", `2`); err != nil {
		t.Fatal(err)
	}
	wantToken(t, s, "a", "2")
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(s.file("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "a"); err == nil {
		t.Error("a file that others can read was used")
	}
}

// No change is lost, whatever else changes the token meanwhile.
func TestStore_UpdatesAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		s := open(t, dir, File, &fakeRing{})
		all.Go(func() {
			for range 10 {
				err := s.Update(t.Context(), "a", func(kept []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(kept))
					return json.Marshal(n + 1)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	wantToken(t, open(t, dir, File, &fakeRing{}), "a", "40")
	failed := errors.New("no")
	s := open(t, dir, File, &fakeRing{})
	if err := s.Update(t.Context(), "a", func([]byte) ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("the error of a change is %v", err)
	}
	wantToken(t, s, "a", "40")
}
