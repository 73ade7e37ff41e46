package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/internal/userfile"
)

// Report is the result of Verify.
type Report struct {
	Session string
	// Records is the number of records before the first problem.
	Records int64
	// Problem says how the chain is broken; "" when it is not. Line is the line where it breaks,
	// from 1.
	Problem string
	Line    int
	// Notes are the traces of crashes, which are no problems.
	Notes []string
}

// Verify checks the file of a session. The error says that it cannot be read at all; it wraps
// fs.ErrNotExist when there is none.
func Verify(dir, session string) (Report, error) {
	v := verifier{Report: Report{Session: session}, prev: zeroHash}
	err := eachLine(dir, session, v.line)
	if err != nil || v.Problem != "" {
		return v.Report, err
	}
	return v.Report, v.end(dir)
}

// Read calls f with each record of a session, in order, and with its line. For a line that is not a
// record, r is the zero Record. It checks nothing.
func Read(dir, session string, f func(r Record, line []byte) error) error {
	return eachLine(dir, session, func(line []byte, _ bool) error {
		r, _, err := decode(line)
		if errors.Is(err, errNoRecord) {
			r = Record{}
		}
		return f(r, line)
	})
}

// eachLine calls f with each line of a file; whole says that the line ends with a line break.
func eachLine(dir, session string, f func(line []byte, whole bool) error) error {
	if !isSession(session) {
		return fmt.Errorf("session id %q is not valid", session)
	}
	file, err := os.OpenFile(filepath.Join(dir, session+fileEnd), os.O_RDONLY|userfile.NoFollow, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	for reader := bufio.NewReader(file); ; {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			text, whole := bytes.CutSuffix(line, []byte("\n"))
			if err := f(text, whole); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// verifier checks the lines of a file in turn.
type verifier struct {
	Report
	at   int    // the number of the current line
	prev string // the hash of the last record
	// broken are the lines since the last record that are no records themselves. brokenErr is what is
	// wrong with the first of them, and brokenAt its number.
	broken    []byte
	brokenErr error
	brokenAt  int
	whole     bool   // the last line ends with a line break
	before    string // the hash of the last record but one
}

// fails notes a problem, unless there is one already.
func (v *verifier) fails(line int, format string, args ...any) {
	if v.Problem == "" {
		v.Line, v.Problem = line, fmt.Sprintf(format, args...)
	}
}

// line checks the next line.
func (v *verifier) line(line []byte, whole bool) error {
	v.at++
	if v.Problem != "" {
		return nil
	}
	v.whole = whole
	r, hash, err := decode(line)
	if err != nil {
		if v.brokenErr == nil {
			v.brokenErr, v.brokenAt = err, v.at
		} else {
			v.broken = append(v.broken, '\n')
		}
		v.broken = append(v.broken, line...)
		return nil
	}
	if v.brokenErr != nil && !v.recovers(r) {
		v.fails(v.brokenAt, "%s", v.brokenErr)
		return nil
	}
	switch {
	case r.Session != v.Session:
		v.fails(v.at, "it belongs to the session %s", r.Session)
	case r.Seq > v.Records+1:
		v.fails(v.at, "record %d follows record %d: what was between is gone", r.Seq, v.Records)
	case r.Seq <= v.Records:
		v.fails(v.at, "record %d follows record %d: it was moved or repeated", r.Seq, v.Records)
	case r.Prev != v.prev:
		v.fails(v.at, "it does not follow the record before it")
	default:
		v.before, v.prev, v.Records = v.prev, hash, r.Seq
	}
	return nil
}

// recovers reports whether a record is about the broken lines before it.
func (v *verifier) recovers(r Record) bool {
	if r.Event != Recovered || r.Cut == nil || r.Cut.Hash != hashOf(v.broken) || r.Cut.Bytes != len(v.broken) {
		return false
	}
	v.Notes = append(v.Notes, fmt.Sprintf("line %d was cut while it was written, and the chain goes on behind it", v.brokenAt))
	v.broken, v.brokenErr = nil, nil
	return true
}

// end checks the end of the file: whether the last line is whole, and whether the head agrees with the
// last record.
func (v *verifier) end(dir string) error {
	switch {
	case v.brokenErr != nil && v.whole:
		v.fails(v.brokenAt, "%s", v.brokenErr)
		return nil
	case v.brokenErr != nil:
		v.Notes = append(v.Notes, fmt.Sprintf("line %d was cut while it was written", v.brokenAt))
	}
	head, err := os.ReadFile(filepath.Join(dir, v.Session+headEnd))
	if errors.Is(err, fs.ErrNotExist) {
		v.fails(v.at, "the head is gone (%s), so lines may be missing at the end", v.Session+headEnd)
		return nil
	}
	if err != nil {
		return err
	}
	var seq int64
	var hash string
	if n, _ := fmt.Sscanf(string(head), "%d %64s\n", &seq, &hash); n != 2 || !bytes.Equal(head, headOf(seq, hash)) {
		if len(head) == 0 && v.Records <= 1 {
			v.Notes = append(v.Notes, "the head was never written")
			return nil
		}
		v.fails(v.at, "the head (%s) is not readable, so lines may be missing at the end", v.Session+headEnd)
		return nil
	}
	switch {
	case seq > v.Records:
		v.fails(v.at, "the last record is %d, and %d were written: the end is gone", v.Records, seq)
	case seq == v.Records && hash == v.prev:
	case seq == v.Records-1 && hash == v.before:
		v.Notes = append(v.Notes, "the head is one record behind")
	default:
		v.fails(v.at, "the head names another record %d", seq)
	}
	return nil
}

// Sessions lists the sessions with a file, the one that was written last first.
func Sessions(dir string) ([]string, error) {
	entries, err := files(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, info := range entries {
		list = append(list, strings.TrimSuffix(info.Name(), fileEnd))
	}
	return list, nil
}
