package launch

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// link is the agent's end of the three channels to a helper. Its methods are
// called under the process's lock.
type link struct {
	control *os.File // to the helper: the spec, stop requests; its end says that the agent is gone
	output  *os.File // from the command
	errors  *os.File // its standard error; nil when it goes with the output
	input   *os.File // to the command; nil when it has none
	status  *os.File // from the helper: records; its end says that the helper is gone

	// standIns are our own writing ends of named pipes. They keep the readers
	// from seeing an end before the helper has come.
	standIns []*os.File
	// dir holds the named pipes, until the helper has them all open.
	dir string
}

// stop asks the helper to end its tree.
func (l *link) stop(grace time.Duration) {
	// A helper that is gone needs no request.
	_, _ = fmt.Fprintf(l.control, "stop %d\n", grace.Milliseconds())
}

// dropStandIns closes the stand-ins and removes the directory of the named pipes: both only serve
// until the helper has come.
func (l *link) dropStandIns() {
	for _, f := range l.standIns {
		f.Close()
	}
	if l.dir != "" {
		os.RemoveAll(l.dir)
	}
	l.standIns, l.dir = nil, ""
}

// abandon gives up a helper that has not come. One that comes later finds
// no spec, or the end of the control channel.
func (l *link) abandon() {
	l.control.Close()
	l.dropStandIns()
}

// close ends the channels of a helper that is gone, except the ones that come from
// the command, which their readers close. Channels that were never opened are nil, which Close takes.
func (l *link) close() {
	l.control.Close()
	l.status.Close()
	l.input.Close()
	l.dropStandIns()
}

// readStops is the helper's side of the control channel: it sends the grace of
// every stop request, and [ShutdownGrace] when the agent is gone.
func readStops(control *bufio.Reader, stops chan<- time.Duration) {
	for {
		line, err := control.ReadString('\n')
		if grace, ok := parseStop(line); ok {
			stops <- grace
		}
		if err != nil {
			if err != io.EOF {
				stops <- 0 // the channel broke: no one can stop us any more
			}
			stops <- ShutdownGrace
			return
		}
	}
}

func parseStop(line string) (time.Duration, bool) {
	arg, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "stop ")
	if !ok {
		return 0, false
	}
	ms, err := strconv.ParseUint(arg, 10, 31)
	return time.Duration(ms) * time.Millisecond, err == nil
}
