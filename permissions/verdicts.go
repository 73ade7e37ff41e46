package permissions

import "sync"

// mostVerdicts is how many names are remembered, and longestKnown the length up to which one is.
const (
	mostVerdicts = 1024
	longestKnown = 1024
)

// verdicts remembers what names were judged to be. It forgets all of them when there are too many:
// a walk over a large tree asks for each name once. It is safe for concurrent use.
type verdicts struct {
	mu  sync.RWMutex
	all map[string]verdict
}

func (v *verdicts) get(path string) (known verdict, ok bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	known, ok = v.all[path]
	return known, ok
}

func (v *verdicts) put(path string, judged verdict) {
	if len(path) > longestKnown {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all == nil || len(v.all) >= mostVerdicts {
		v.all = map[string]verdict{}
	}
	v.all[path] = judged
}
