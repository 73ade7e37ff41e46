//go:build !linux

package cgroup

// Host is where cgroups are made: nowhere on this system.
type Host struct{}

// System is the host that this process runs on.
func System() Host { return Host{} }

// Create returns a group that bounds nothing.
func (Host) Create(Limits) *Group { return &Group{} }

// Sweep has nothing to remove.
func (Host) Sweep() int { return 0 }

// Limit is not known.
func (Host) Limit() uint64 { return 0 }

// Total is not known.
func (Host) Total() uint64 { return 0 }

// Group bounds nothing.
type Group struct{}

// Bounds reports whether the group bounds a resource.
func (*Group) Bounds(Resource) bool { return false }

// Enter does nothing.
func (*Group) Enter() (leave func()) { return func() {} }

// StartIn finds none.
func (*Group) StartIn() (fd int, ok bool) { return 0, false }

// Add does nothing.
func (*Group) Add(int) {}

// Exceeded is always empty.
func (*Group) Exceeded() Resource { return "" }

// Seal does nothing.
func (*Group) Seal() {}

// Remove does nothing.
func (*Group) Remove() {}
