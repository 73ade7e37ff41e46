package launch

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
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
	// fillRate is the fastest that a program is assumed to fill memory, in bytes a second.
	fillRate = 4 << 30
	// lookShare is the most of a processor's time that the helper spends on looks, as 1/n. On a busy machine
	// a look takes long without any, and the next one must not wait for that.
	lookShare = 20
)

// newBound prepares the bounds of a command that is about to start.
func newBound(l Limits) *bound {
	return &bound{limits: l, group: cgroup.System().Create(cgroup.Limits{Memory: l.Memory, Processes: l.Processes})}
}

// polled reports which limits no cgroup holds, so that the tree has to be looked at.
func (b *bound) polled() (memory, processes bool) {
	return b.limits.Memory > 0 && !b.group.Bounds(cgroup.Memory), b.limits.Processes > 0 && !b.group.Bounds(cgroup.Processes)
}

// next fires when the tree is to be looked at; nil when it never is.
func (b *bound) next() <-chan time.Time {
	if b.over != "" || b.limits.Memory == 0 && b.limits.Processes == 0 {
		return nil
	}
	if memory, processes := b.polled(); memory || processes {
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
	memory, processes := b.polled()
	if !memory && !processes {
		return false, time.After(eventPause)
	}
	var used, count uint64
	var full bool
	worked := processorTime(func() {
		used, count = usage(t.rest())
		full = memory && used > b.limits.Memory && shared(t.rest()) > b.limits.Memory
	})
	switch {
	case full:
		b.over = string(cgroup.Memory)
		return true, nil
	case processes && count > b.limits.Processes:
		b.over = string(cgroup.Processes)
		return true, nil
	}
	pause := lookPause
	if memory && !processes {
		pause = b.untilFull(used)
	}
	return false, time.After(max(pause, lookShare*worked))
}

// processorTime is what a function uses of a processor.
func processorTime(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := func() time.Duration {
		var usage syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_THREAD, &usage) // it fails for other arguments only
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := thread()
	work()
	return thread() - before
}

// untilFull is how long a tree that uses so much memory may be left alone: the time in which it
// could reach the limit, within lookPause and longestPause.
func (b *bound) untilFull(used uint64) time.Duration {
	if used >= b.limits.Memory {
		return lookPause
	}
	left := time.Duration(float64(b.limits.Memory-used) / fillRate * float64(time.Second))
	return min(max(left, lookPause), longestPause)
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

// usage is the memory of processes in bytes, each counted by itself, and the number of
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

// shared is the memory of processes in bytes; memory that several of them share counts once.
// A process whose shared memory cannot be read is counted by itself.
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
