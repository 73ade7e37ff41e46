package builtin

import (
	"fmt"
	"io"

	"acp-agent/tools"
)

// spool keeps a stream: in memory up to limit bytes, then in a sidecar. Writing
// to it never fails, so that a full disk does not end the work it looks on.
type spool struct {
	rt    tools.Runtime
	limit int

	buf  []byte
	side tools.Sidecar
	err  error
}

func (s *spool) Write(p []byte) (int, error) {
	if s.side == nil && s.err == nil && len(s.buf)+len(p) <= s.limit {
		s.buf = append(s.buf, p...)
		return len(p), nil
	}
	s.spill()
	s.put(p)
	return len(p), nil
}

// spill moves what is in memory to a sidecar.
func (s *spool) spill() {
	if s.side != nil || s.err != nil {
		return
	}
	side, err := s.rt.Sidecar()
	if err != nil {
		s.err = err
	} else {
		s.side = side
		s.put(s.buf)
	}
	s.buf = nil
}

func (s *spool) put(p []byte) {
	if s.err == nil {
		_, s.err = s.side.Write(p)
	}
}

// keep ends the stream with all of it in a sidecar. It returns the path, "" if
// there is none, and a phrase for the model that says where the whole is.
func (s *spool) keep(what string) (path, note string) {
	s.spill()
	s.close()
	if s.side == nil {
		return "", fmt.Sprintf("the whole %s could not be kept: %v", what, s.err)
	}
	path = s.side.Path()
	switch dropped := s.side.Dropped(); {
	case s.err != nil:
		return path, fmt.Sprintf("the %s as far as it could be kept (%v) is in %s", what, s.err, path)
	case dropped > 0:
		return path, fmt.Sprintf("the %s but for its last %d bytes is in %s", what, dropped, path)
	}
	return path, fmt.Sprintf("the whole %s is in %s", what, path)
}

// close ends the stream without a use for it.
func (s *spool) close() {
	if s.side == nil {
		return
	}
	if err := s.side.Close(); s.err == nil {
		s.err = err
	}
}

// keepWhole writes something to a sidecar; see [spool.keep].
func keepWhole(rt tools.Runtime, what string, write func(io.Writer) error) (path, note string) {
	s := &spool{rt: rt}
	if err := write(s); err != nil && s.err == nil {
		s.err = err
	}
	return s.keep(what)
}
