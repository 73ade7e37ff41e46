package store

import (
	"io"

	"acp-agent/transcript"
)

// File is what a session's file does for its recorder.
type File = sessionFile

// WithFiles makes a store of options, whose session files open opens.
func WithFiles(o Options, open func(path string, flags int) (File, error)) *Store {
	o.open = open
	return New(o)
}

// Lines for tests of the reader.
var (
	Scan = func(r io.Reader, f func(at, end int64, text []byte, ended bool)) error {
		return scan(r, func(s scanned) { f(s.at, s.end, s.text, s.ended) })
	}
	Parse = func(text []byte) ([]byte, error) {
		l, err := parse(text)
		return l.append(nil), err
	}
	CleanJSON  = cleanJSON
	SafeLength = safeLength
)

// Rewrite is a line whose data change has changed.
func Rewrite(text []byte, change func([]byte) []byte) []byte {
	l, err := parse(text)
	if err != nil {
		return text
	}
	l.data = change(l.data)
	return l.append(nil)
}

// Seal gives the beginning of a line, up to its checksum, the right one.
func Seal(text []byte) []byte {
	if at := len(text) - sumLen; at >= 0 && string(text[at:at+len(sumMark)]) == sumMark {
		text = text[:at]
	}
	sealed := append(append([]byte(nil), text...), sumMark...)
	return append(appendSum(sealed, text), sumTail+"\n"...)
}

// Err returns why the session is not being stored at the moment; nil while it is.
func (r *Recorder) Err() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}

// Snapshot reads the session as a whole.
func (st *Stored) Snapshot() (transcript.Snapshot, error) {
	s := transcript.Snapshot{Memory: st.Memory.Clone()}
	for m, err := range st.Messages() {
		if err != nil {
			return transcript.Snapshot{}, err
		}
		s.Messages = append(s.Messages, m)
	}
	return s, nil
}
