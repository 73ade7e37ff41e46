//go:build !linux

package launch

import (
	"io"
	"os"
)

// servesOn: a helper inherits the streams of its command, and ends with it.
const servesOn = false

// control makes the channel to a helper.
func (p *plumbing) control() *os.File { return p.into() }

// inherit makes the streams of the one command that the helper will have, and lets the helper inherit them.
func (p *plumbing) inherit(h *helperProcess, w wiring) {
	first := len(p.theirs)
	h.streams, h.channels = p.streams(w)
	if p.err != nil {
		return
	}
	h.cmd.Stdout = p.theirs[first]
	for _, place := range []*uintptr{&h.channels.Stdin, &h.channels.Stderr} {
		if *place != 0 && p.err == nil {
			*place, p.err = hand(h.cmd, p.theirs[first+int(*place)])
		}
	}
}

// send sends an encoded spec. The helper has the streams already.
func (h *helperProcess) send(line []byte, _ []*os.File) error {
	_, err := h.control.Write(line)
	return err
}

// controlReader reads what the agent sends.
type controlReader struct{ io.Reader }

func newControlReader() *controlReader { return &controlReader{os.Stdin} }

// take returns nothing: the streams are inherited.
func (r *controlReader) take() []*os.File { return nil }

// stdio opens what the helper inherited for the command.
func (c channels) stdio([]*os.File) (stdio, error) {
	s := stdio{out: os.Stdout}
	if c.Stdin != 0 {
		s.in = os.NewFile(c.Stdin, "stdin")
	}
	if c.Stderr != 0 {
		s.err = os.NewFile(c.Stderr, "stderr")
	}
	return s, nil
}
