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

// link is the agent's end of the channels to a helper and its command. Its methods are
// called under the process's lock.
type link struct {
	control *os.File // to the helper: specs, stop requests; its end says that the agent is gone
	status  *os.File // from the helper: records; its end says that the helper is gone
	streams

	// standIns are our own writing ends of named pipes. They keep the readers
	// from seeing an end before the helper has come.
	standIns []*os.File
	// dir holds the named pipes, until the helper has them all open.
	dir string
}

// streams are the agent's ends of a command's standard streams.
type streams struct {
	output *os.File
	errors *os.File // nil when it goes with the output
	input  *os.File // nil when it is empty
}

// close closes the streams of a command that was not started. A stream that was never opened is nil, which
// Close takes.
func (s streams) close() {
	s.output.Close()
	s.errors.Close()
	s.input.Close()
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

// close ends the channels to a helper that is gone, and the command's input. The streams that come from
// the command are closed by their readers. Channels that were never opened are nil, which Close takes.
func (l *link) close() {
	l.control.Close()
	l.status.Close()
	l.input.Close()
	l.dropStandIns()
}

// readStops is the helper's side of the control channel: it sends the grace of
// every stop request, and [ShutdownGrace] when the agent is gone. other gets each line that is
// none.
func readStops(control *bufio.Reader, stops chan<- stop, other func(line []byte)) {
	for {
		line, err := control.ReadBytes('\n')
		if grace, ok := parseStop(string(line)); ok {
			stops <- stop{grace: grace}
		} else if err == nil {
			other(line)
		}
		if err != nil {
			if err != io.EOF {
				stops <- stop{} // the channel broke: no one can stop us any more
			}
			stops <- stop{grace: ShutdownGrace}
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
