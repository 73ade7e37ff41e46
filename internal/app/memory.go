package app

import (
	"os"
	"runtime/debug"
	"sync"

	"acp-agent/internal/cgroup"
)

// gcPercent trades a little processor time for memory: an agent stays open as
// long as its editor (docs/performance.md). beginPercent holds until the first session is opened:
// the collector leaves the first 8 MB of garbage alone, and with them the start.
const (
	gcPercent    = 50
	beginPercent = 200
)

// ballastBytes is the size of the ballast: the collector waits for half of it more of garbage
// than it would without. It had collected a heap of a few megabytes again and again while the
// first session was opened, which took longer than all the rest.
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
		debug.SetGCPercent(beginPercent)
	}
}

// paceCollector ends deferCollector. To make the ballast costs a collection.
func paceCollector() {
	ballast()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// heedPercent is the part of a container's memory that the agent's heap may take before
// the collector works harder; the rest is for the programs that it starts, and for what
// the collector does not count.
const heedPercent = 90

// heedMemoryLimit has the garbage collector heed the memory limit of the cgroups that
// hold the process, unless GOMEMLIMIT says otherwise.
func heedMemoryLimit(host cgroup.Host) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := host.Limit(); limit > 0 {
		debug.SetMemoryLimit(int64(limit/100*heedPercent) + int64(len(ballast())))
	}
}
