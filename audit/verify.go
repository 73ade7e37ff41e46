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

// Report is what Verify found.
type Report struct {
	Session string
	// Records is how many records stand before the first problem.
	Records int64
	// Problem says where the chain breaks, and how; "" means that it holds. Line is
	// its line, from 1.
	Problem string
	Line    int
	// Notes are no problems: what a crash left.
	Notes []string
}

// Verify checks the file of a session. The error is that it cannot be read at all; it
// wraps fs.ErrNotExist when there is none.
func Verify(dir, session string) (Report, error) {
	v := verifier{Report: Report{Session: session}, prev: first}
	err := each(dir, session, v.line)
	if err != nil || v.Problem != "" {
		return v.Report, err
	}
	return v.Report, v.end(dir)
}

// Read hands the records of a session to f, in order, with their lines as they stand
// in the file. A line that is not a record has the zero Record. It checks nothing.
func Read(dir, session string, f func(r Record, line []byte) error) error {
	return each(dir, session, func(line []byte, _ bool) error {
		r, _, err := decode(line)
		if errors.Is(err, errNoRecord) {
			r = Record{}
		}
		return f(r, line)
	})
}

// each hands the lines of a file to f, and whether they are whole.
func each(dir, session string, f func(line []byte, whole bool) error) error {
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

type verifier struct {
	Report
	at   int
	prev string
	// behind are lines that are no records, with what is between them; why is what
	// is wrong with the first, and from where it stands.
	behind []byte
	why    error
	from   int
	ended  bool   // the last line has an end
	before string // the hash of the last record but one
}

// fails notes the first problem.
func (v *verifier) fails(line int, format string, args ...any) {
	if v.Problem == "" {
		v.Line, v.Problem = line, fmt.Sprintf(format, args...)
	}
}

func (v *verifier) line(line []byte, whole bool) error {
	v.at++
	if v.Problem != "" {
		return nil
	}
	v.ended = whole
	r, hash, err := decode(line)
	if err != nil {
		if v.why == nil {
			v.why, v.from = err, v.at
		} else {
			v.behind = append(v.behind, '\n')
		}
		v.behind = append(v.behind, line...)
		return nil
	}
	if v.why != nil && !v.recovers(r) {
		v.fails(v.from, "%s", v.why)
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

// recovers reports whether a record accounts for the lines before it that are none.
func (v *verifier) recovers(r Record) bool {
	if r.Event != Recovered || r.Cut == nil || r.Cut.Hash != hashOf(v.behind) || r.Cut.Bytes != len(v.behind) {
		return false
	}
	v.Notes = append(v.Notes, fmt.Sprintf("line %d was cut while it was written, and the chain goes on behind it", v.from))
	v.behind, v.why = nil, nil
	return true
}

// end checks what only shows at the end: a last line that was cut, and lines that the
// head knows of.
func (v *verifier) end(dir string) error {
	switch {
	case v.why != nil && v.ended:
		v.fails(v.from, "%s", v.why)
		return nil
	case v.why != nil:
		v.Notes = append(v.Notes, fmt.Sprintf("line %d was cut while it was written", v.from))
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

// Sessions lists the sessions that have a file, the one written last first.
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
