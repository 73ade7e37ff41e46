package tokens

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

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

// Where says where the token of a name lies, without asking the keyring; false when none
// is kept.
func (s *Store) Where(name string) (Place, bool) {
	data, err := userfile.Read(s.file(name), maxFile)
	if err != nil {
		return "", false
	}
	var kept record
	if err := json.Unmarshal(data, &kept); err != nil || kept.Version != version {
		return "", false
	}
	if kept.Place != Keyring {
		return File, true
	}
	return Keyring, true
}

func (s *Store) load(ctx context.Context, name string) (token []byte, place Place, err error) {
	path := s.file(name)
	data, err := userfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	var kept record
	if err := json.Unmarshal(data, &kept); err != nil || kept.Version != version {
		return nil, File, nil // half a file, or of another version: the next sign-in replaces it
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

// Remove removes the token of a name, also where Load would refuse it because others may have
// read it. It makes nothing where none is kept.
func (s *Store) Remove(ctx context.Context, name string) error {
	if err := userfile.CheckDir(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	path := s.file(name)
	if userfile.Missing(path) && userfile.Missing(path+".lock") {
		return nil
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	if place, known := s.Where(name); known {
		return s.remove(ctx, name, place)
	}
	if s.place != File && !userfile.Missing(path) {
		_ = s.ring.remove(ctx, filepath.Base(path)) // it may lie there, and nothing says so
	}
	return userfile.Remove(path)
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
	return userfile.Remove(path)
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
	return userfile.Replace(path, data)
}

// lock keeps other processes from the token of a name.
func (s *Store) lock(ctx context.Context, name string) (unlock func(), err error) {
	return userfile.Lock(ctx, s.file(name)+".lock", lockWait)
}
