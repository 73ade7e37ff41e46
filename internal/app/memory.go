package app

import (
	"os"
	"runtime/debug"
	"sync"

	"acp-agent/internal/cgroup"
)

// gcPercent trades a little processor time for memory: an agent stays open as
// long as its editor (docs/performance.md). startPercent holds until the first session is opened:
// the collector leaves the first 8 MB of garbage alone, and with them the start.
const (
	gcPercent    = 50
	startPercent = 200
)

// ballastBytes is the size of the ballast, half of which the collector allows as garbage in
// addition. Without it, a heap of a few megabytes is collected again and again while the first
// session is opened, which takes longer than all the rest.
const ballastBytes = 8 << 20

// ballast counts as a part of the heap and is never written, so that it takes no memory.
var ballast = sync.OnceValue(newBallast)

// newBallast makes none where the environment says how often garbage is collected, or bounds the
// memory: the ballast would count as memory in use.
func newBallast() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, ballastBytes)
}

// deferCollector has garbage collected late, unless the environment says how often.
func deferCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(startPercent)
	}
}

// paceCollector ends deferCollector. It is for a process that stays, because making the ballast
// costs a collection.
func paceCollector() {
	ballast()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// memoryPercent is the part of a container's memory that the agent's heap may take before
// the collector works harder; the rest is for the programs that it starts, and for what
// the collector does not count.
const memoryPercent = 90

// applyMemoryLimit sets the collector's limit by the memory limit of the cgroups that the process
// is in, unless GOMEMLIMIT sets one.
func applyMemoryLimit(host cgroup.Host) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := host.Limit(); limit > 0 {
		debug.SetMemoryLimit(int64(limit/100*memoryPercent) + int64(len(ballast())))
	}
}
