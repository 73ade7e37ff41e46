package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// maxLogFile bounds the file of the log. A full one is kept under the name
// with oldLog after it, in place of the one before.
const (
	maxLogFile = 5 << 20
	oldLog     = ".old"
)

// logFile is a file of bounded size that several processes may append to. It
// is opened by the first record, so that an agent with nothing to say touches
// no disk. Its failures are silent: ACP_AGENT_LOG brings every record to stderr.
//
// use and used never wait for a disk. append may, and is for one goroutine at a time.
type logFile struct {
	mu   sync.Mutex // guards name and uses
	name string     // "" while there is none
	uses int        // counts the calls of use

	// The rest belongs to append.
	seen int    // the call of use that path is from
	path string // "" when there is none, or it was given up
	file *os.File
}

// use makes name the file of what is appended from now on; "" means none.
func (f *logFile) use(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.name = name
	f.uses++
}

// used reports whether there is a file.
func (f *logFile) used() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.name != ""
}

// append writes one record. A file that cannot be written is given up until
// use names one again.
func (f *logFile) append(record []byte) {
	f.follow()
	if f.path == "" || len(record) == 0 {
		return
	}
	if err := f.write(record); err != nil {
		f.close()
		f.path = ""
	}
}

// follow takes note of what use has named.
func (f *logFile) follow() {
	f.mu.Lock()
	name, uses := f.name, f.uses
	f.mu.Unlock()
	if uses == f.seen {
		return
	}
	if name != f.path {
		f.close()
	}
	f.path, f.seen = name, uses
}

func (f *logFile) write(record []byte) error {
	if f.file == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	info, err := f.file.Stat() // others append, too
	if err == nil && info.Size() > 0 && info.Size()+int64(len(record)) > maxLogFile {
		err = f.rotate(info)
	}
	if err != nil {
		return err
	}
	_, err = f.file.Write(record)
	return err
}

func (f *logFile) open() (err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	f.file, err = os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return err
}

// rotate starts a new file. When another process has done so already, the open file is the
// old one under its new name, and the new file stays.
func (f *logFile) rotate(full fs.FileInfo) error {
	f.close() // before the renaming, which an open file forbids on Windows
	if current, err := os.Stat(f.path); err == nil && os.SameFile(full, current) {
		if err := os.Rename(f.path, f.path+oldLog); err != nil {
			return err
		}
	}
	return f.open()
}

func (f *logFile) close() {
	if f.file != nil {
		_ = f.file.Close() // every record was written by a call of its own
		f.file = nil
	}
}
