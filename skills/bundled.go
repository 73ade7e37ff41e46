package skills

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
)

// bundled adds the skills that the host ships.
func (s *scan) bundled(ctx context.Context, fsys fs.FS) {
	if fsys == nil {
		return
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		s.warn.add("bundled skills", "%v", err)
	}
	for _, e := range entries {
		if s.done(ctx) {
			return
		}
		if !e.IsDir() {
			continue
		}
		name := path.Join(e.Name(), fileName)
		read := func(limit int64) ([]byte, error) {
			file, err := fsys.Open(name)
			if err != nil {
				return nil, err
			}
			defer file.Close()
			return io.ReadAll(io.LimitReader(file, limit))
		}
		head, err := read(maxFrontMatter)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		origin := "bundled " + name
		if err != nil {
			s.warn.add(origin, "%v", err)
			continue
		}
		s.add(head, e.Name(), &skill{origin: origin, real: origin, read: func() ([]byte, error) { return read(maxBody + 1) }})
	}
}
