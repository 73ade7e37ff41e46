package workspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
)

// prune removes the directories that an operation made for a file which is
// gone, from the inner one up, as far as they are empty.
func (c *Call) prune(ctx context.Context, dir, operation string) {
	for {
		made, ok := c.w.history.MadeDir(dir, operation)
		if !ok {
			return
		}
		err := c.atName(ctx, "remove", dir, func(p *place) error {
			info, err := p.dir.Lstat(p.name)
			if err != nil {
				return err
			}
			if !os.SameFile(info, made) {
				return fs.ErrExist
			}
			return p.dir.Remove(p.name)
		})
		if err != nil {
			c.leave(dir, operation) // not empty yet, or not ours by now
			return
		}
		c.w.history.Unmade(dir)
		dir = filepath.Dir(dir)
	}
}

// leave notes that a directory which an operation made, and those above it, stay until
// others' files in it are gone.
func (c *Call) leave(dir, operation string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, ok := c.w.history.MadeDir(dir, operation); !ok {
			return
		}
		c.w.history.Leave(dir)
	}
}
