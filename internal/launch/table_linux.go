package launch

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// process is a line of the process table.
type process struct {
	parent int
	dead   bool // waits to be reaped
}

// descendants lists the living processes below root.
func descendants(root, _ int) []int {
	table := processes()
	children := make(map[int][]int, len(table))
	for pid, p := range table {
		children[p.parent] = append(children[p.parent], pid)
	}
	var out []int
	for next := children[root]; len(next) > 0; {
		pid := next[len(next)-1]
		next = append(next[:len(next)-1:len(next)-1], children[pid]...)
		if !table[pid].dead {
			out = append(out, pid)
		}
	}
	return out
}

// processes reads the process table. What ends while it is read is left out;
// callers repeat until nothing is left.
func processes() map[int]process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	table := make(map[int]process, len(names))
	buf := make([]byte, 512)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readStat(name, buf); ok {
			table[pid] = p
		}
	}
	return table
}

func readStat(pid string, buf []byte) (process, bool) {
	// The system calls themselves: os.Open costs four more of them, and this
	// runs once for every process of the machine.
	fd, err := unix.Open("/proc/"+pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return process{}, false
	}
	return parseStat(buf[:n])
}

// parseStat reads `pid (name) state parent ...`. The name is the program's own
// choice and may hold anything, parentheses included.
func parseStat(stat []byte) (process, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 2 {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return process{}, false
	}
	state := fields[0][0]
	return process{parent: parent, dead: state == 'Z' || state == 'X'}, true
}
