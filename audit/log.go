package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/textcut"
	"acp-agent/internal/userfile"
)

// Options are what a Log is made of.
type Options struct {
	// Dir is the directory of all sessions' files; it is made with the first record.
	Dir string
	// Session names the session: letters, digits, "-" and "_" only.
	Session string
	// MaxBytes bounds the file; 0 means that nothing does.
	MaxBytes int64
	// Clean removes secrets from texts; nil leaves them as they are.
	Clean func(string) string
	// Failed is called once, with why records could not be written; nil is not called.
	Failed func(error)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Log writes the file of one session. It is safe for concurrent use. A nil Log keeps nothing.
type Log struct {
	o Options

	mu     sync.Mutex // guards what follows
	file   *os.File   // nil while it is not open; so is head
	head   *os.File
	seq    int64  // the number of the last record
	prev   string // its hash
	size   int64  // of file, in bytes
	full   bool
	failed bool // Options.Failed was called
	closed bool
}

// New returns a log. It touches no disk before the first record.
func New(o Options) *Log {
	if o.Clean == nil {
		o.Clean = func(text string) string { return text }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Log{o: o}
}

// ErrFull says that a file has reached Options.MaxBytes.
var ErrFull = errors.New("the audit of this session has reached its size, and keeps nothing more")

// Append writes one record. It returns no error, because a call must not depend on its record:
// Options.Failed gets the first failure, and the next Append tries again.
func (l *Log) Append(r Record) {
	if l == nil {
		return
	}
	l.mu.Lock()
	tell := l.noteFailure(l.append(r))
	l.mu.Unlock()
	tell()
}

// noteFailure returns a function that reports a failure if it is the first one. The caller holds mu, and
// calls the function without it.
func (l *Log) noteFailure(err error) (tell func()) {
	if err == nil || l.failed {
		return func() {}
	}
	l.failed = true
	if l.o.Failed == nil {
		return func() {}
	}
	return func() { l.o.Failed(err) }
}

// Sync returns when the records that were appended before are on the disk. Others may be appended
// meanwhile. It reports a failure as Append does.
func (l *Log) Sync() {
	if l == nil {
		return
	}
	l.mu.Lock()
	file := l.file
	l.mu.Unlock()
	if file == nil { // there is no record yet, or Append has reported why, or Close has synced it
		return
	}
	err := file.Sync()
	l.mu.Lock()
	if l.file != file { // closed meanwhile
		err = nil
	}
	if err != nil {
		l.release() // the next Append opens the file again, and reads what is in it
	}
	tell := l.noteFailure(err)
	l.mu.Unlock()
	tell()
}

func (l *Log) append(r Record) error {
	if l.closed || l.full {
		return nil
	}
	if err := l.open(); err != nil {
		return err
	}
	if l.full { // an earlier process has filled it
		return ErrFull
	}
	if err := l.write(l.clean(r)); err != nil {
		l.release() // the next Append opens the file again, and reads what is in it
		return err
	}
	if l.full {
		return ErrFull
	}
	return nil
}

// clean removes secrets and contents of files from a record.
func (l *Log) clean(r Record) Record {
	r.Args = Summary(r.Given, l.o.Clean)
	for _, text := range []*string{&r.Tool, &r.Server, &r.Name, &r.Reason, &r.Asked, &r.Error, &r.By, &r.Unseen} {
		*text = l.o.Clean(short(*text))
	}
	touches := make([]string, len(r.Touches))
	for i, name := range r.Touches {
		touches[i] = l.o.Clean(short(name))
	}
	r.Touches = touches
	changes := make([]Change, len(r.Changes))
	for i, c := range r.Changes {
		c.Path = l.o.Clean(c.Path)
		changes[i] = c
	}
	r.Changes = changes
	return r
}

// short cuts a text to maxKept.
func short(text string) string {
	if len(text) <= maxKept {
		return text
	}
	return textcut.First(text, maxKept) + " …"
}

func (l *Log) write(r Record) error {
	r.Version, r.Seq, r.Time, r.Session, r.Prev = version, l.seq+1, l.o.Now().UTC(), l.o.Session, l.prev
	line, hash, err := r.encode()
	if err != nil {
		return err
	}
	if l.o.MaxBytes > 0 && l.size+int64(len(line)) > l.o.MaxBytes && r.Event != Full {
		l.full = true
		return l.write(Record{Event: Full})
	}
	if _, err := l.file.Write(line); err != nil {
		return err
	}
	l.seq, l.prev, l.size = r.Seq, hash, l.size+int64(len(line))
	_, err = l.head.WriteAt(headOf(l.seq, l.prev), 0)
	return err
}

// headOf is the content of the head: always of the same length.
func headOf(seq int64, hash string) []byte { return fmt.Appendf(nil, "%020d %s\n", seq, hash) }

// open opens the files, and continues the chain where it ends.
func (l *Log) open() (err error) {
	if l.file != nil {
		return nil
	}
	if !isSession(l.o.Session) {
		return fmt.Errorf("audit: session id %q is not valid", l.o.Session)
	}
	if err := userfile.MakeDir(l.o.Dir); err != nil {
		return err
	}
	if l.file, err = userfile.Open(filepath.Join(l.o.Dir, l.o.Session+fileEnd), os.O_RDWR|os.O_CREATE|os.O_APPEND); err != nil {
		return err
	}
	if l.head, err = userfile.Open(filepath.Join(l.o.Dir, l.o.Session+headEnd), os.O_RDWR|os.O_CREATE); err == nil {
		err = l.resume()
	}
	if err != nil {
		l.release()
	}
	return err
}

// The ends of the names of a session's files.
const (
	fileEnd = ".jsonl"
	headEnd = ".head"
)

// resume finds the last record, and adds a record about the bytes after it, if there are any.
func (l *Log) resume() error {
	data, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	l.seq, l.prev, l.size, l.full = 0, zeroHash, int64(len(data)), false
	after := data // what follows the last record
	for rest := data; len(rest) > 0; {
		line, tail, _ := bytes.Cut(rest, []byte("\n"))
		if r, hash, err := decode(line); err == nil {
			l.seq, l.prev, l.full = r.Seq, hash, r.Event == Full
			after = tail
		}
		rest = tail
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		if _, err := l.file.Write([]byte("\n")); err != nil {
			return err
		}
	}
	if len(after) == 0 {
		return nil
	}
	cut := bytes.TrimSuffix(after, []byte("\n"))
	return l.write(Record{Event: Recovered, Cut: &Cut{Bytes: len(cut), Hash: hashOf(cut)}})
}

// Close syncs and closes the files. Records that are appended later are dropped.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.file == nil {
		return nil
	}
	return errors.Join(l.file.Sync(), l.head.Sync(), l.release())
}

// release closes the files.
func (l *Log) release() (err error) {
	for _, f := range []*os.File{l.file, l.head} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	l.file, l.head = nil, nil
	return err
}

// isSession reports whether a session's id can be a part of a file's name.
func isSession(id string) bool {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return id != "" && len(id) <= 100 && strings.Trim(id, legal) == ""
}
