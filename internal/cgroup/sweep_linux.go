package cgroup

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Sweep removes the cgroups of owners that were killed, and kills what still
// runs in them: a command ends with its agent (X4). It returns how many it
// removed.
func (h Host) Sweep() (removed int) {
	for _, p := range h.parents() {
		entries, err := os.ReadDir(p.dir)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			o, ours := ownerOf(entry.Name())
			if !ours || !entry.IsDir() || !h.gone(o) {
				continue
			}
			dir := filepath.Join(p.dir, entry.Name())
			kill(dir)
			remove(dir)
			removed++
		}
	}
	return removed
}

// kill ends the processes of a cgroup whose owner has ended.
func kill(dir string) {
	for _, word := range words(filepath.Join(dir, "cgroup.procs")) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}
