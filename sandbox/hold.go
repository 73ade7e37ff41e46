package sandbox

import (
	"os"
	"slices"
	"sync"
)

// holding are directories that we made so that something can be mounted on them,
// with how many commands need each. The zero value is ready.
type holding struct {
	mu   sync.Mutex
	made map[string]int
}

// take makes the directories that are not there, and counts those that we made. The
// last command that lets go of one removes it, if it is empty still.
func (h *holding) take(dirs []string) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var mine []string
	for _, dir := range dirs {
		if h.made[dir] == 0 && os.Mkdir(dir, 0o755) != nil {
			continue // there, or not to be made; its parent is then not writable either
		}
		if h.made == nil {
			h.made = map[string]int{}
		}
		h.made[dir]++
		mine = append(mine, dir)
	}
	return sync.OnceFunc(func() { h.letGo(mine) })
}

func (h *holding) letGo(dirs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, dir := range slices.Backward(dirs) { // what lies in another comes behind it
		if h.made[dir]--; h.made[dir] == 0 {
			delete(h.made, dir)
			_ = os.Remove(dir) // somebody has begun to use it
		}
	}
}
