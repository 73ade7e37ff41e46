package projects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"acp-agent/internal/userfile"
)

const (
	dirName  = "projects"
	lockName = "lock"
	suffix   = ".json"

	// lockWait bounds the wait for another process, which holds the lock for a
	// few milliseconds.
	lockWait = 5 * time.Second
)

// Store is the records of all projects. Its methods are safe for concurrent use,
// also by several processes.
type Store struct {
	dir string
	// readOnly says that nothing is written, also not aside.
	readOnly bool
}

// New returns the store below the agent's data directory, an absolute path.
// Nothing is made before the first Update.
func New(dataDir string) *Store { return &Store{dir: filepath.Join(dataDir, dirName)} }

// ReadOnly returns a store whose Load leaves a record that cannot be used where it is.
func (s *Store) ReadOnly() *Store { return &Store{dir: s.dir, readOnly: true} }

// BrokenError is a record that could not be used. The project counts as one that
// nothing was decided about.
type BrokenError struct {
	// File is the record's; Aside is where it was moved, "" when it stayed.
	File, Aside string
	Err         error
}

// Error says what was lost and what to do.
func (e *BrokenError) Error() string {
	text := fmt.Sprintf("what was decided about this project cannot be read (%s: %v)", e.File, e.Err)
	if e.Aside != "" {
		return text + "; the file is now " + e.Aside + ", rules kept for the project are gone and it is not trusted: decide anew"
	}
	return text + "; until that is mended, no rule kept for the project holds and it is not trusted"
}

// Unwrap returns the cause.
func (e *BrokenError) Unwrap() error { return e.Err }

// Canonical is the path under which a directory's decisions are kept: absolute,
// with links followed.
func Canonical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// file is the file of a project's record.
func (s *Store) file(project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+suffix)
}

// Load returns what was decided about the project, a canonical path. An error
// is a *BrokenError, and the record beside it is empty.
func (s *Store) Load(project string) (Record, error) {
	none := Record{Version: version, Path: project}
	if err := userfile.CheckDir(s.dir); errors.Is(err, fs.ErrNotExist) {
		return none, nil
	} else if err != nil {
		return none, &BrokenError{File: s.dir, Err: err}
	}
	name := s.file(project)
	data, err := userfile.Read(name, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, &BrokenError{File: name, Err: err}
	}
	record, err := decode(data, project)
	if err == nil {
		return record, nil
	}
	return none, s.setAside(project, err)
}

// setAside moves a record away that cannot be understood, unless another process
// has put a good one in its place meanwhile, or a newer version wrote it.
func (s *Store) setAside(project string, why error) error {
	broken := &BrokenError{File: s.file(project), Err: why}
	if _, later := errors.AsType[*laterError](why); later || s.readOnly {
		return broken
	}
	unlock, err := s.lock()
	if err != nil {
		return broken
	}
	defer unlock()
	if data, err := userfile.Read(broken.File, maxRecord); err != nil {
		return broken
	} else if _, err := decode(data, project); err == nil {
		return broken
	}
	aside := strings.TrimSuffix(broken.File, suffix) + time.Now().UTC().Format(".broken-20060102-150405.000000000")
	if os.Rename(broken.File, aside) == nil {
		broken.Aside = aside
	}
	return broken
}

// Update changes what was decided about the project: change is given the record
// as it is now, under the lock, and what it leaves there is written before
// Update returns. An error of change is returned, and then nothing is written.
func (s *Store) Update(project string, change func(*Record) error) error {
	if err := userfile.MakeDir(s.dir); err != nil {
		return err
	}
	if _, err := s.Load(project); err != nil {
		if broken, ok := errors.AsType[*BrokenError](err); !ok || broken.Aside == "" {
			return err
		}
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	name := s.file(project)
	record := Record{Version: version, Path: project}
	data, err := userfile.Read(name, maxRecord)
	if err == nil {
		record, err = decode(data, project)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &BrokenError{File: name, Err: err}
	}
	if err := change(&record); err != nil {
		return err
	}
	if record.empty() {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err = json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	if len(data) > maxRecord {
		return fmt.Errorf("what is kept about %s is larger than %d MiB", project, maxRecord>>20)
	}
	return userfile.Replace(name, append(data, '\n'))
}

// All returns the records of all projects, by path. What cannot be read is left
// out and reported in the error, beside the others.
func (s *Store) All() ([]Record, error) {
	if err := userfile.CheckDir(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, &BrokenError{File: s.dir, Err: err}
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var records []Record
	var problems []error
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), suffix) {
			continue
		}
		name := filepath.Join(s.dir, entry.Name())
		var about struct {
			Path string `json:"path"`
		}
		data, err := userfile.Read(name, maxRecord)
		if err == nil {
			err = json.Unmarshal(data, &about)
		}
		var record Record
		if err == nil && s.file(about.Path) != name {
			err = fmt.Errorf("it is about %q, whose file has another name", about.Path)
		}
		if err == nil {
			record, err = decode(data, about.Path)
		}
		if err != nil {
			problems = append(problems, &BrokenError{File: name, Err: err})
			continue
		}
		records = append(records, record)
	}
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	return records, errors.Join(problems...)
}

func (s *Store) lock() (unlock func(), err error) {
	return userfile.Lock(context.Background(), filepath.Join(s.dir, lockName), lockWait)
}
