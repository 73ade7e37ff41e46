package journal

import "io/fs"

// madeDir is a directory that was made for a new file.
type madeDir struct {
	info      fs.FileInfo // nil when it is gone
	operation string
	// left says that its operation was taken back while others' files were in
	// it: it goes with the last of those.
	left bool
}

// Made notes a directory that an operation made for a new file, so that taking
// the operation back can remove it.
func (j *Journal) Made(dir, operation string, info fs.FileInfo) {
	j.observeDir(dir, info, Observer.MadeDir)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.made[dir] = &madeDir{info: info, operation: operation}
}

// observeDir tells the observer of a directory.
func (j *Journal) observeDir(dir string, info fs.FileInfo, tell func(Observer, string, fs.FileMode)) {
	if j.observer != nil && info != nil {
		tell(j.observer, dir, info.Mode())
	}
}

// Remade is Made for a directory that is made again for what is put back: it goes with
// the operation that had made it before.
func (j *Journal) Remade(dir, operation string, info fs.FileInfo) {
	j.observeDir(dir, info, Observer.MadeDir)
	j.mu.Lock()
	defer j.mu.Unlock()
	if m := j.made[dir]; m != nil && m.info == nil {
		m.info = info
		return
	}
	j.made[dir] = &madeDir{info: info, operation: operation}
}

// MadeDir identifies a directory that goes, once it is empty, when the
// operation is taken back: its own, or what another one had to leave.
func (j *Journal) MadeDir(dir, operation string) (info fs.FileInfo, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	m := j.made[dir]
	if m == nil || m.info == nil || m.operation != operation && !m.left {
		return nil, false
	}
	return m.info, true
}

// Leave notes that a directory could not be removed with its operation.
func (j *Journal) Leave(dir string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if m := j.made[dir]; m != nil {
		m.left = true
	}
}

// Unmade notes that a directory is gone.
func (j *Journal) Unmade(dir string) {
	j.mu.Lock()
	m := j.made[dir]
	var info fs.FileInfo
	if m != nil {
		info, m.info = m.info, nil
	}
	j.mu.Unlock()
	j.observeDir(dir, info, Observer.RemovedDir)
}
