package workspace

import (
	"context"
	"io/fs"
)

// Info describes the file that a path leads to as the disk has it, for telling
// whether it changed.
func (c *Call) Info(ctx context.Context, path string) (info fs.FileInfo, err error) {
	err = c.open(ctx, "stat", path, func(p *place) (err error) {
		info, err = p.lstat()
		return err
	})
	return info, err
}
