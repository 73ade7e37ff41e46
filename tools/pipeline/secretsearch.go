package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"acp-agent/internal/pathname"
	"acp-agent/internal/search"
)

// Bounds of the search for secrets beneath a directory.
const (
	maxTreeEntries = 5000
	maxTreeDepth   = 40
)

// holdsSecret reports whether a file beneath a directory has the name of a secret, so that the user
// is asked about a command that reads the whole directory (P8). It follows no links, because such
// commands do not either. A directory that is too large or cannot be read counts as holding a
// secret. With reads, only directories count, and files whose base names reads accepts.
func (f commandFiles) holdsSecret(dir string, reads func(name string) bool) bool {
	access, err := f.work.Check(dir, false)
	if err != nil || !access.Inside {
		return true
	}
	if f.regular(access.Real) {
		return f.work.SecretName(access.Real) || f.holdsAddress(access.Real)
	}
	runtime := f.work.Call(f.call+"/tree", f.tool, nil)
	defer runtime.Finish()
	if _, err := runtime.FS().Stat(context.Background(), access.Real); errors.Is(err, fs.ErrNotExist) {
		return false // there is nothing to read
	}
	if f.work.SecretName(access.Real) || slices.ContainsFunc(f.own, func(path string) bool { return pathname.Contains(access.Real, path) }) {
		return true
	}
	top, err := runtime.FS().Dir(context.Background(), access.Real)
	if err != nil {
		return true
	}
	finder := secretSearch{left: maxTreeEntries, reads: reads, secret: func(path string) bool {
		return f.work.SecretName(path) || runtime.FS().HoldsAddress(path)
	}}
	return finder.holds(top, access.Real, 0)
}

// secretSearch looks for secrets by their names.
type secretSearch struct {
	left  int // entries that may still be read
	reads func(name string) bool
	// secret reports whether the file at an absolute path holds secrets.
	secret func(path string) bool
}

// holds reports whether dir, which has the given path, holds a secret, and closes dir.
func (s *secretSearch) holds(dir search.Dir, path string, depth int) bool {
	defer dir.Close()
	entries, err := dir.ReadDir()
	if s.left -= len(entries); err != nil || s.left < 0 || depth > maxTreeDepth {
		return true
	}
	for _, entry := range entries {
		counts := entry.IsDir() || s.reads == nil || s.reads(entry.Name())
		if counts && s.secret(filepath.Join(path, entry.Name())) {
			return true
		}
		if !entry.IsDir() {
			continue
		}
		if sub, err := dir.Sub(entry.Name()); err != nil || s.holds(sub, filepath.Join(path, entry.Name()), depth+1) {
			return true
		}
	}
	return false
}
