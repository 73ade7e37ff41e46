package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
)

// outerRepositories are the repositories that the session's directories belong to and that lie
// outside of them, as they were when the first command ran. The zero value is ready.
type outerRepositories struct {
	once sync.Once
	dirs []*rootfile.Dir
	tops []string // the working trees that are not the session's

	mu     sync.Mutex // guards what follows
	looked time.Time
	found  []string
	whole  bool
	// kept are what other repositories in these trees keep of addresses with a user and password.
	kept []string
}

// of opens the directories that commands in roots may write in, because git does.
func (o *outerRepositories) of(roots []Root) []*rootfile.Dir {
	o.once.Do(func() {
		var dirs []string
		for _, root := range roots {
			dirs = append(dirs, root.Path)
		}
		for _, repo := range gitdir.Outside(dirs) {
			for _, dir := range slices.Compact([]string{repo.Dir, repo.Common}) {
				if handle, err := os.OpenRoot(dir); err == nil {
					o.dirs = append(o.dirs, &rootfile.Dir{Path: dir, Handle: handle})
				}
			}
			if !slices.ContainsFunc(dirs, func(dir string) bool { return pathname.Contains(dir, repo.Top) }) {
				o.tops = append(o.tops, repo.Top)
			}
		}
	})
	return o.dirs
}

// Bounds of looking for secrets in the working trees around the session's directories.
const (
	maxAround     = 50_000 // entries
	maxAroundTime = time.Second
	// aroundLasts is how long what was found counts: commands cannot write there.
	aroundLasts = 10 * time.Second
)

// secrets are the files that hold secrets in the working trees around the session's directories.
// whole is false where there is too much to look through.
func (o *outerRepositories) secrets(roots []Root, hidden func(path string) bool) (found []string, whole bool) {
	o.of(roots)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.tops) == 0:
		return nil, true
	case hidden == nil:
		return nil, false
	case time.Since(o.looked) < aroundLasts:
		return o.found, o.whole
	}
	o.found, o.kept, o.whole = nil, nil, true
	left, end := maxAround, time.Now().Add(maxAroundTime)
	for _, top := range o.tops {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			left--
			switch {
			case left < 0 || time.Now().After(end):
				return errors.New("there is too much to look through")
			case err != nil:
				o.found = append(o.found, path) // it may hold some
				return fs.SkipDir
			case hidden(path):
				o.found = append(o.found, path)
				if entry.IsDir() {
					return fs.SkipDir
				}
			case entry.Name() == gitModules && HoldsAddress(path):
				o.kept = append(o.kept, path)
			case entry.IsDir() && entry.Name() == ".git":
				o.kept = append(o.kept, gitdir.Addresses(path, HoldsAddress)...)
				return fs.SkipDir
			case entry.IsDir() && slices.ContainsFunc(roots, func(root Root) bool { return root.Path == path }):
				return fs.SkipDir
			}
			return nil
		})
		o.whole = o.whole && err == nil
	}
	o.looked = time.Now()
	return o.found, o.whole
}

// objects are the directories in which these repositories keep the content of files.
func (o *outerRepositories) objects(roots []Root) (dirs []string) {
	for _, dir := range o.of(roots) {
		dirs = append(dirs, gitdir.Objects(dir.Path)...)
	}
	return dirs
}

// addresses are what these repositories, and others in their working trees, keep of addresses with a user and password.
func (o *outerRepositories) addresses(roots []Root, hidden func(path string) bool) (paths []string) {
	o.secrets(roots, hidden)
	for _, dir := range o.of(roots) {
		paths = append(paths, gitdir.Addresses(dir.Path, HoldsAddress)...)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return append(paths, o.kept...)
}

func (o *outerRepositories) close() {
	o.once.Do(func() {})
	for _, dir := range o.dirs {
		_ = dir.Handle.Close()
	}
}
