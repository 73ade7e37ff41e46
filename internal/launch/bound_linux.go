package launch

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"acp-agent/internal/cgroup"
)

// bound holds a command's tree to the limits that count all of its processes
// together: a cgroup where one can be made, else a look at the tree now and
// then. It is used by the goroutine that tends the tree, and before that by the
// one that starts it.
type bound struct {
	limits Limits
	group  *cgroup.Group
	over   string // the limit that the tree exceeded
}

const (
	// eventPause separates two looks at what the kernel counted. The kernel holds
	// the tree to its limit meanwhile.
	eventPause = 250 * time.Millisecond
	// lookPause and longestPause bound the time between two looks at a tree that no
	// cgroup holds.
	lookPause    = 50 * time.Millisecond
	longestPause = time.Second
	// fillRate is how fast a program is taken to fill memory, in bytes a second.
	fillRate = 4 << 30
	// lookShare is the most of its time that the helper spends on looks, as 1/n.
	lookShare = 20
)

// newBound prepares the bounds of a command that is about to start.
func newBound(l Limits) *bound {
	return &bound{limits: l, group: cgroup.System().Create(cgroup.Limits{Memory: l.Memory, Processes: l.Processes})}
}

// looks reports which limits no cgroup holds.
func (b *bound) looks() (memory, processes bool) {
	return b.limits.Memory > 0 && !b.group.Bounds(cgroup.Memory), b.limits.Processes > 0 && !b.group.Bounds(cgroup.Processes)
}

// next fires when the tree is to be looked at; nil when it never is.
func (b *bound) next() <-chan time.Time {
	if b.over != "" || b.limits.Memory == 0 && b.limits.Processes == 0 {
		return nil
	}
	if memory, processes := b.looks(); memory || processes {
		return time.After(lookPause)
	}
	return time.After(eventPause)
}

// look finds out whether the tree has exceeded a limit. again fires for the next
// look.
func (b *bound) look(t *tree) (exceeded bool, again <-chan time.Time) {
	if b.over = string(b.group.Exceeded()); b.over != "" {
		b.group.Seal()
		return true, nil
	}
	memory, processes := b.looks()
	if !memory && !processes {
		return false, time.After(eventPause)
	}
	start := time.Now()
	used, count := usage(t.rest())
	switch {
	case memory && used > b.limits.Memory && shared(t.rest()) > b.limits.Memory:
		b.over = string(cgroup.Memory)
		return true, nil
	case processes && count > b.limits.Processes:
		b.over = string(cgroup.Processes)
		return true, nil
	}
	pause := lookPause
	if memory && !processes && used < b.limits.Memory {
		pause = time.Duration(float64(b.limits.Memory-used) / fillRate * float64(time.Second))
	}
	return false, time.After(max(min(max(pause, lookPause), longestPause), lookShare*time.Since(start)))
}

// end removes the cgroup of a tree that has ended and returns the limit that the
// tree exceeded.
func (b *bound) end() string {
	if b.over == "" {
		b.over = string(b.group.Exceeded())
	}
	b.group.Remove()
	return b.over
}

// usage is the memory of processes, each counted by itself, and the number of
// their threads.
func usage(pids []int) (memory, threads uint64) {
	for _, pid := range pids {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err != nil {
			continue // it has ended
		}
		memory += number(status, "RssAnon:")<<10 + number(status, "RssShmem:")<<10
		threads += number(status, "Threads:")
	}
	return memory, threads
}

// shared is the memory of processes, with what several of them share counted once. A
// process that does not show it is counted by itself.
func shared(pids []int) (memory uint64) {
	for _, pid := range pids {
		rollup, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		if err != nil {
			own, _ := usage([]int{pid})
			memory += own
			continue
		}
		memory += number(rollup, "Pss_Anon:")<<10 + number(rollup, "Pss_Shmem:")<<10
	}
	return memory
}

// number reads the number after a name at the beginning of a line.
func number(text []byte, name string) uint64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				n, _ := strconv.ParseUint(string(fields[0]), 10, 64) // what is not a number counts as none
				return n
			}
		}
	}
	return 0
}

// systemThreads is the number of threads on the machine, of all users.
func systemThreads() uint64 {
	text, err := os.ReadFile("/proc/loadavg") // `0.27 0.68 0.77 2/95 22166`
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, total, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.ParseUint(total, 10, 64) // what is not a number is unknown
	return n
}
