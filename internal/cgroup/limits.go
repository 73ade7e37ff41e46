package cgroup

// Limits bound the processes of a cgroup together. Zero leaves a resource
// without a bound.
type Limits struct {
	Memory    uint64 // bytes, swap included
	Processes uint64 // processes and threads
}

// Resource is what a cgroup can bound.
type Resource string

// The resources of [Limits].
const (
	Memory    Resource = "memory"
	Processes Resource = "processes"
)
