package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"acp-agent/internal/tokens"
	"acp-agent/internal/userfile"
)

const (
	// maxFile bounds the file of the server, in bytes.
	maxFile = 64 << 10
	// lockWait bounds the wait for another login or logout.
	lockWait = 10 * time.Second
)

// ErrNoKey says that no key is stored for an address.
var ErrNoKey = errors.New("no key is stored for this server")

// Store keeps a login. Its methods are safe for use by several processes.
type Store struct {
	// Path is the file of the server, an absolute path in a directory of its own.
	Path string
	// Tokens keep the key.
	Tokens *tokens.Store
}

// Read returns what the file of the server holds. It refuses one that others can have
// written, for it says where conversations go.
func Read(path string) ([]byte, error) {
	if err := userfile.CheckDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return userfile.Read(path, maxFile)
}

// keyName is the name of a key among the tokens.
func keyName(baseURL string) string { return "model " + baseURL }

// Save stores a server, JSON whose base_url is the address, and its key, in place of what
// is stored. An empty key means that the server needs none.
func (s Store) Save(ctx context.Context, baseURL string, server []byte, key string) error {
	return s.change(ctx, func(before string) error {
		if before != baseURL {
			if err := s.setKey(ctx, before, ""); err != nil {
				return err
			}
		}
		if err := s.setKey(ctx, baseURL, key); err != nil {
			return err
		}
		return userfile.Replace(s.Path, server)
	})
}

// Forget removes what is stored, and returns the address of the server. When nothing is
// stored that is "", and had is false.
func (s Store) Forget(ctx context.Context) (baseURL string, had bool, err error) {
	if err := userfile.CheckDir(filepath.Dir(s.Path)); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	err = s.change(ctx, func(before string) error {
		baseURL = before
		if err := s.setKey(ctx, before, ""); err != nil {
			return err
		}
		had = !userfile.Missing(s.Path)
		return userfile.Remove(s.Path)
	})
	return baseURL, had, err
}

// Key returns the key of an address; ErrNoKey when none is stored.
func (s Store) Key(ctx context.Context, baseURL string) (string, error) {
	data, err := s.Tokens.Load(ctx, keyName(baseURL))
	if err != nil {
		return "", err
	}
	key := ""
	if err := json.Unmarshal(data, &key); err != nil || key == "" {
		return "", ErrNoKey
	}
	return key, nil
}

// Where says where the key of an address lies, without asking the keyring; false when
// none is stored.
func (s Store) Where(baseURL string) (tokens.Place, bool) { return s.Tokens.Where(keyName(baseURL)) }

// change runs a change under the lock; before is the address of the server that is stored.
func (s Store) change(ctx context.Context, change func(before string) error) error {
	if err := userfile.MakeDir(filepath.Dir(s.Path)); err != nil {
		return err
	}
	unlock, err := userfile.Lock(ctx, s.Path+".lock", lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	var before struct {
		BaseURL string `json:"base_url"`
	}
	// Of a file that is damaged, or that others may have written, nothing is known; it can
	// be replaced and removed.
	if data, err := userfile.Read(s.Path, maxFile); err == nil {
		_ = json.Unmarshal(data, &before)
	}
	return change(before.BaseURL)
}

func (s Store) setKey(ctx context.Context, baseURL, key string) error {
	var err error
	if key == "" {
		err = s.Tokens.Remove(ctx, keyName(baseURL))
	} else {
		err = s.Tokens.Update(ctx, keyName(baseURL), func([]byte) ([]byte, error) { return json.Marshal(key) })
	}
	if err != nil {
		return fmt.Errorf("the key for %s: %w", baseURL, err)
	}
	return nil
}
