package tokens

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"acp-agent/internal/userfile"
)

// Place is where tokens are kept.
type Place string

// The places.
const (
	// Auto is the keyring where it works, else a file.
	Auto    Place = ""
	Keyring Place = "keyring"
	File    Place = "file"
)

const (
	dirName = "tokens"
	version = 1
	// maxFile bounds a file, in bytes.
	maxFile = 256 << 10
	// lockWait bounds the wait for another process, which may be asking a server for a new
	// token.
	lockWait = 45 * time.Second
	lockPoll = 20 * time.Millisecond
)

// Store keeps tokens by name. Its methods are safe for concurrent use, also by several
// processes.
type Store struct {
	dir   string
	place Place
	ring  ring
}

// New returns the store below the agent's data directory, an absolute path. Nothing is made
// before the first Update.
func New(dataDir string, place Place) *Store {
	return &Store{dir: filepath.Join(dataDir, dirName), place: place, ring: system{}}
}

// record is a file: the token itself, or that the keyring has it.
type record struct {
	Version int             `json:"version"`
	Place   Place           `json:"place"`
	Token   json.RawMessage `json:"token,omitempty"`
}

// file is the file of a token; the name itself may hold anything.
func (s *Store) file(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json")
}

// Load returns the token of a name, which is JSON; nil when none is kept.
func (s *Store) Load(ctx context.Context, name string) ([]byte, error) {
	if err := userfile.CheckDir(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	token, _, err := s.load(ctx, name)
	return token, err
}

func (s *Store) load(ctx context.Context, name string) (token []byte, place Place, err error) {
	path := s.file(name)
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	var kept record
	if err := json.Unmarshal(data, &kept); err != nil || kept.Version != version {
		return nil, File, nil // half a file, or of another version: whoever signs in again replaces it
	}
	if kept.Place != Keyring {
		return kept.Token, File, nil
	}
	text, err := s.ring.get(ctx, filepath.Base(path))
	if errors.Is(err, errNone) {
		return nil, Keyring, nil
	}
	return []byte(text), Keyring, err
}

// Update changes the token of a name: change is given what is kept at that moment, nil when
// that is nothing, under a lock against other processes, and what it returns, JSON or nil
// for nothing, is kept before Update returns. An error of change is returned, and then
// nothing changes.
func (s *Store) Update(ctx context.Context, name string, change func(kept []byte) ([]byte, error)) error {
	if err := userfile.MakeDir(s.dir); err != nil {
		return err
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	kept, place, err := s.load(ctx, name)
	if err != nil {
		return err
	}
	token, err := change(kept)
	switch {
	case err != nil:
		return err
	case token == nil:
		return s.remove(ctx, name, place)
	case bytes.Equal(token, kept):
		return nil
	}
	return s.save(ctx, name, token, place)
}

// save keeps a token where it is to be; before is where an older one is.
func (s *Store) save(ctx context.Context, name string, token []byte, before Place) error {
	path := s.file(name)
	if s.place != File {
		err := s.ring.set(ctx, filepath.Base(path), string(token))
		if err == nil {
			return s.write(path, record{Version: version, Place: Keyring})
		}
		if s.place == Keyring {
			return fmt.Errorf("the system's keyring did not take the token: %w", err)
		}
	}
	if err := s.write(path, record{Version: version, Place: File, Token: token}); err != nil {
		return err
	}
	if before == Keyring {
		_ = s.ring.remove(ctx, filepath.Base(path)) // nothing leads to it any more
	}
	return nil
}

func (s *Store) remove(ctx context.Context, name string, place Place) error {
	path := s.file(name)
	if place == Keyring {
		if err := s.ring.remove(ctx, filepath.Base(path)); err != nil && !errors.Is(err, errNone) {
			return fmt.Errorf("the system's keyring did not give the token up: %w", err)
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// write replaces a file in one step; the lock is held.
func (s *Store) write(path string, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("a token of more than %d KiB is not kept", maxFile>>10)
	}
	temp := path + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // left by a process that was killed
	}
	f, err := userfile.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// lock keeps other processes from the token of a name.
func (s *Store) lock(ctx context.Context, name string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock := flock.New(s.file(name)+".lock", flock.SetPermissions(0o600))
	ok, err := lock.TryLockContext(ctx, lockPoll)
	switch {
	case errors.Is(err, context.DeadlineExceeded), err == nil && !ok:
		return nil, fmt.Errorf("another process holds %s and did not let go of it within %v", lock.Path(), lockWait)
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	return func() { _ = lock.Close() }, nil
}

// readFile reads a file that only this user can have written.
func readFile(path string) ([]byte, error) {
	f, err := userfile.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}
