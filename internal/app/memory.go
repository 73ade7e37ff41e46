package app

import (
	"os"
	"runtime/debug"

	"acp-agent/internal/cgroup"
)

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
		debug.SetMemoryLimit(int64(limit / 100 * heedPercent))
	}
}
