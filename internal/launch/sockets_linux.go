package launch

import (
	"os"
	"strconv"
	"strings"
)

// Bounds of a look at the sockets of a command, which can start and open many.
const (
	maxLookedAt    = 4000   // processes
	maxDescriptors = 20_000 // of all of them
)

// socketsBelow are the inodes of the sockets that processes below a process have open. What
// cannot be looked at is left out.
func socketsBelow(root int) map[uint64]bool { return socketsOf(below(root)) }

func socketsOf(pids []int) map[uint64]bool {
	held := map[uint64]bool{}
	seen := 0
	for _, pid := range pids {
		dir := procDir(pid) + "/fd"
		names := namesIn(dir, maxDescriptors-seen)
		for _, name := range names {
			target, _ := os.Readlink(dir + "/" + name)
			text, isSocket := strings.CutPrefix(target, "socket:[")
			inode, err := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64)
			if isSocket && err == nil {
				held[inode] = true
			}
		}
		if seen += len(names); seen >= maxDescriptors {
			break
		}
	}
	return held
}

// below lists the processes below a process, by the children that the kernel names of each: that
// takes as long as there are children, and not as there are processes on the machine. It can miss
// some while others end, unlike descendants, which is used where the kernel does not name them.
func below(root int) (pids []int) {
	if _, err := os.Stat(procDir(root) + "/task/" + strconv.Itoa(root) + "/children"); err != nil {
		return descendants(root, 0)
	}
	next := []int{root}
	for len(next) > 0 && len(pids) < maxLookedAt {
		pid := next[len(next)-1]
		children := threadChildren(pid)
		next = append(next[:len(next)-1], children...)
		pids = append(pids, children...)
	}
	return pids
}

// threadChildren lists the children of all threads of a process.
func threadChildren(pid int) (pids []int) {
	tasks := procDir(pid) + "/task"
	for _, thread := range namesIn(tasks, maxLookedAt) {
		text, err := os.ReadFile(tasks + "/" + thread + "/children")
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

func procDir(pid int) string { return "/proc/" + strconv.Itoa(pid) }

// namesIn lists at most so many names in a directory.
func namesIn(dir string, most int) []string {
	f, err := os.Open(dir)
	if err != nil || most <= 0 {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(most)
	return names
}
