package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// mountPoints are the directories that are made so that something can be mounted on them,
// with how many commands of this process need each. The zero value is ready.
type mountPoints struct {
	mu   sync.Mutex
	made map[string]int
	own  *claims
}

// acquire makes the directories that do not exist, and counts the uses of each that an agent process made. The
// last command of the last process that needs one removes it if it is still empty; to remove it earlier would
// unmount what is mounted there for the command of another process. dir keeps a record of what is held, for the
// next start after a kill; empty keeps none.
func (m *mountPoints) acquire(dir string, dirs []string) (release func()) {
	if len(dirs) == 0 {
		return func() {}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	others, unlock := m.others(dir)
	defer unlock()
	var mine []string
	for _, dir := range dirs {
		if m.made[dir] == 0 && !m.makeOrShare(dir, others) {
			continue // the user's, or not to be made; its parent is then not writable either
		}
		if m.made == nil {
			m.made = map[string]int{}
		}
		m.made[dir]++
		mine = append(mine, dir)
	}
	return sync.OnceFunc(func() { m.release(dir, mine) })
}

// makeOrShare makes a directory, or shares one that another process made. It is claimed
// before it is made: a kill between the two leaves a claim of nothing.
func (m *mountPoints) makeOrShare(dir string, others claimsOfAll) bool {
	if _, err := os.Lstat(dir); err == nil {
		if !others.any(dir) {
			return false
		}
		m.own.add(dir)
		return true
	}
	m.own.add(dir)
	if os.Mkdir(dir, 0o755) != nil {
		m.own.drop(dir)
		return false
	}
	return true
}

// has reports whether a directory was made so that something can be mounted on it.
func (m *mountPoints) has(dir string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made[dir] > 0
}

// release drops one use of each directory, and removes the directories that no command needs any more.
func (m *mountPoints) release(dir string, dirs []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	others, unlock := m.others(dir)
	defer unlock()
	for _, dir := range slices.Backward(dirs) { // a directory comes before those within it
		if m.made[dir]--; m.made[dir] > 0 {
			continue
		}
		delete(m.made, dir)
		if !others.alive(dir) {
			_ = os.Remove(dir) // the user may have started to use it
		}
		m.own.drop(dir)
	}
	if len(m.made) == 0 {
		m.own.clear()
	}
}

// others keeps other processes from making and removing directories until unlock, and returns what they
// hold. Where that cannot be done, each process knows only its own directories.
func (m *mountPoints) others(dir string) (others claimsOfAll, unlock func()) {
	if dir == "" {
		return nil, func() {}
	}
	unlock, err := lockClaims(dir)
	if err != nil {
		return nil, func() {}
	}
	if m.own == nil {
		m.own = openClaims(dir)
	}
	return readClaims(dir, m.own), unlock
}

// sweepClaims removes the directories that ended processes made and did not remove.
func sweepClaims(dir string) {
	if _, err := os.Lstat(dir); err != nil {
		return // nothing was ever held
	}
	unlock, err := lockClaims(dir)
	if err != nil {
		return
	}
	defer unlock()
	all := readClaims(dir, nil)
	for _, claim := range all {
		if claim.alive {
			continue
		}
		for _, made := range slices.Backward(claim.dirs) {
			if !all.alive(made) {
				_ = os.Remove(made) // fails where something lies in it by now
			}
		}
		_ = os.Remove(filepath.Join(dir, claim.name))
	}
}

// Sweep removes the directories that killed agent processes had made as mount points. Directories that are
// in use or not empty stay.
func (b *Box) Sweep() {
	if b != nil && b.ClaimsDir != "" {
		sweepClaims(b.ClaimsDir)
	}
}

// Close ends the record of what this process made. Its commands have ended.
func (b *Box) Close() {
	if b == nil {
		return
	}
	b.mountPoints.mu.Lock()
	defer b.mountPoints.mu.Unlock()
	b.mountPoints.own.close()
	b.mountPoints.own = nil
}
