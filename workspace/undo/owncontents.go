package undo

import (
	"errors"
	"io"
	"os"
	"strconv"
	"sync"

	"acp-agent/workspace/undo/timeline"
)

// ownContents keeps contents in the session's private directory, where nothing keeps them longer.
// They are bounded: the oldest go first.
type ownContents struct {
	dir   func() (*os.Root, error)
	limit int64

	mu   sync.Mutex
	next int
	list []ownContent
	size int64
}

type ownContent struct {
	name string
	size int64
}

var _ timeline.Contents = (*ownContents)(nil)

const (
	// defaultOwnBytes bounds all contents together.
	defaultOwnBytes = 256 << 20
	ownPrefix       = "content-"
)

// Put implements [timeline.Contents].
func (c *ownContents) Put(content io.Reader) (name string, err error) {
	dir, err := c.dir()
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	c.next++
	name = ownPrefix + strconv.Itoa(c.next)
	c.mu.Unlock()
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = dir.Remove(name) // what stays goes with the session
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, ownContent{name, n})
	for c.size += n; c.size > c.limit && len(c.list) > 1; c.list = c.list[1:] {
		c.size -= c.list[0].size
		_ = dir.Remove(c.list[0].name) // what stays goes with the session
	}
	return name, nil
}

// Open implements [timeline.Contents].
func (c *ownContents) Open(name string) (io.ReadCloser, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return dir.Open(name)
}
