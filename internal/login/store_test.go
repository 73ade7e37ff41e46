package login_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"acp-agent/internal/login"
	"acp-agent/internal/tokens"
)

func open(t *testing.T, dir string) login.Store {
	t.Helper()
	return login.Store{Path: filepath.Join(dir, "login", "server.json"), Tokens: tokens.New(dir, tokens.File)}
}

func save(t *testing.T, s login.Store, baseURL, key string) {
	t.Helper()
	if err := s.Save(t.Context(), baseURL, []byte(`{"base_url":"`+baseURL+`"}`), key); err != nil {
		t.Fatal(err)
	}
}

func wantKey(t *testing.T, s login.Store, baseURL, want string) {
	t.Helper()
	got, err := s.Key(t.Context(), baseURL)
	if _, kept := s.Where(baseURL); got != want || (want == "") != errors.Is(err, login.ErrNoKey) || kept != (want != "") {
		t.Errorf("the key of %s is %q, %v, kept %t; want %q", baseURL, got, err, kept, want)
	}
}

// A key is found for its own address, one login takes the place of another, and nothing
// is left after Forget.
func TestStore_OneLogin(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, had, err := s.Forget(t.Context()); had || err != nil {
		t.Errorf("nothing was stored, and Forget says %t, %v", had, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("looking made %v, %v", entries, err)
	}
	save(t, s, "http://a/v1", "ka")
	wantKey(t, open(t, dir), "http://a/v1", "ka")
	wantKey(t, s, "http://b/v1", "")
	save(t, s, "http://b/v1", "kb")
	wantKey(t, s, "http://a/v1", "")
	wantKey(t, s, "http://b/v1", "kb")
	save(t, s, "http://b/v1", "")
	wantKey(t, s, "http://b/v1", "")
	save(t, s, "http://b/v1", "kb")
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{filepath.Dir(s.Path): 0o700, s.Path: 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	if baseURL, had, err := s.Forget(t.Context()); baseURL != "http://b/v1" || !had || err != nil {
		t.Errorf("Forget says %q, %t, %v", baseURL, had, err)
	}
	wantKey(t, s, "http://b/v1", "")
	if _, err := os.Stat(s.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the server is still stored: %v", err)
	}
}

// A file that is damaged can be replaced and forgotten.
func TestStore_Damaged(t *testing.T) {
	s := open(t, t.TempDir())
	for range 2 {
		save(t, s, "http://a/v1", "ka")
		if err := os.WriteFile(s.Path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if baseURL, had, err := s.Forget(t.Context()); baseURL != "" || !had || err != nil {
		t.Errorf("Forget says %q, %t, %v", baseURL, had, err)
	}
}

// A key that others may have read is forgotten all the same, and so is what a login left
// that was killed; a key that cannot be forgotten is not said to be.
func TestStore_ForgetsWhatItRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mode bits mean nothing here")
	}
	keys := func(t *testing.T, dir string) []string {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, "tokens", "*.json*"))
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(files, func(path string) bool { return filepath.Ext(path) == ".lock" })
	}
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, file string) error
		fails bool
	}{
		{"open to others", func(_ *testing.T, file string) error { return os.Chmod(file, 0o644) }, false},
		{"damaged", func(_ *testing.T, file string) error { return os.WriteFile(file, []byte(`{"token":"ka`), 0o600) }, false},
		{"a killed login", func(_ *testing.T, file string) error { return os.Rename(file, file+".tmp") }, false},
		{"a directory open to others", func(_ *testing.T, file string) error { return os.Chmod(filepath.Dir(file), 0o755) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			save(t, s, "http://a/v1", "ka")
			if err := tt.spoil(t, keys(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
			_, _, err := s.Forget(t.Context())
			if left := keys(t, dir); (err != nil) != tt.fails || (len(left) > 0) != tt.fails {
				t.Errorf("Forget says %v and leaves %v", err, left)
			}
		})
	}
}
