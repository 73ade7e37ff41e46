// Package cgroup bounds the memory and the number of processes of one command
// with a control group of the kernel.
//
// It owns the way from the cgroup of this process to a child cgroup that this
// process may make ([Host.Create]), the limits that are written there, the
// kernel's counts of what exceeded them ([Group.Exceeded]), the removal of
// cgroups whose owner was killed ([Host.Sweep]), and the memory limit of this
// process itself ([Host.Limit]). Version 2 of cgroups is used in
// a delegated subtree, as systemd gives one to each user; version 1 below the
// own cgroup of each controller. Where neither can be written, Create returns a
// Group that bounds nothing and says so.
//
// The name of a cgroup holds its owner: the PID namespace, the process and the
// start time of that process. A cgroup is removed by its owner, or by a sweep
// that finds the process gone. A sweep in another PID namespace leaves
// it alone, because it cannot tell.
//
// The package does not know commands, signals or settings. It may import the
// standard library, internal/pathname and golang.org/x/sys. It starts no goroutine. On systems
// other than Linux every Group bounds nothing.
//
//	group := cgroup.System().Create(cgroup.Limits{Memory: 2 << 30, Processes: 4096})
//	defer group.Remove()
//	if group.Bounds(cgroup.Memory) { ... }
//	group.Add(pid)
//
// # Requirements
//
// docs/security.md X5.
package cgroup
