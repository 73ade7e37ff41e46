package session

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"time"

	"acp-agent/internal/pathname"
	"acp-agent/permissions/command"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// maxTrackedIndex bounds the index of a repository that is read.
const maxTrackedIndex = 64 << 20

// tracked reports which files git tracks in the repositories at the top of a session's directories. A
// file counts as tracked only if it has been in the index since the session first read it: adding a
// secret file to the index must not make it readable. It is safe for concurrent use.
type tracked struct {
	mu    sync.Mutex // guards repos
	repos []*trackedRepo
}

// trackedRepo is one repository, under the names of its top.
type trackedRepo struct {
	work    *workspace.Workspace
	tops    []string // names of the same directory; the first one is resolved
	wasRead bool
	size    int64           // of the index when it was read last, and
	time    time.Time       // when that was changed
	names   map[string]bool // from the top, with slashes
}

// setWorkspace sets the repositories to those of a workspace; dirs are the names that the client gave to its
// directories. Before this call nothing is tracked.
func (t *tracked) setWorkspace(work *workspace.Workspace, dirs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, top := range work.Session().Roots {
		repo := &trackedRepo{work: work, tops: []string{top}}
		for _, dir := range dirs {
			if dir = filepath.Clean(dir); dir != top && work.Resolve(dir) == top {
				repo.tops = append(repo.tops, dir)
			}
		}
		t.repos = append(t.repos, repo)
	}
}

// readFirst reads the indexes that were not read yet.
func (t *tracked) readFirst() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, repo := range t.repos {
		if !repo.wasRead {
			repo.refresh()
		}
	}
}

// has reports whether git tracks the file of an absolute path, compared exactly.
func (t *tracked) has(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, repo := range t.repos {
		for _, top := range repo.tops {
			if rest, ok := pathname.Rel(top, path); ok && repo.has(filepath.ToSlash(rest)) {
				return true
			}
		}
	}
	return false
}

func (r *trackedRepo) has(name string) bool {
	r.refresh()
	return r.names[name]
}

// refresh reads the index again when it has changed. An index that cannot be read tracks nothing.
func (r *trackedRepo) refresh() {
	call := r.work.Call("index", "", transcript.Discard)
	defer call.Finish()
	path := filepath.Join(r.tops[0], ".git", "index")
	info, err := call.FS().Stat(context.Background(), path)
	if err == nil && r.wasRead && info.Size == r.size && info.ModTime.Equal(r.time) {
		return
	}
	names := map[string]bool{}
	if err == nil && info.Size <= maxTrackedIndex {
		r.size, r.time = info.Size, info.ModTime
		if file, err := call.FS().Open(context.Background(), path); err == nil {
			if data, err := io.ReadAll(io.LimitReader(file, maxTrackedIndex)); err == nil {
				names = r.namesIn(data)
			}
			file.Close()
		}
	}
	r.wasRead, r.names = true, names
}

// namesIn are the files of an index that were in it at every earlier read. A file that git was told to
// ignore changes of (Local) does not count: what it holds now is not what others have.
func (r *trackedRepo) namesIn(index []byte) map[string]bool {
	names := map[string]bool{}
	entries, err := command.GitIndex(index)
	if err != nil {
		return names
	}
	for _, entry := range entries {
		if !entry.Submodule && !entry.Local && (!r.wasRead || r.names[entry.Name]) {
			names[entry.Name] = true
		}
	}
	return names
}
