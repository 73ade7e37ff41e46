package tooltest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"acp-agent/internal/search"
)

// openFile counts what is read of it.
type openFile struct {
	*io.SectionReader
	fs   *FS
	name string
	node *node
}

// open is called with f.mu held; the file counts under it later.
func (f *FS) open(name string, n *node) *openFile {
	return &openFile{SectionReader: io.NewSectionReader(n.data, 0, n.size), fs: f, name: name, node: n}
}

func (o *openFile) Read(p []byte) (int, error) {
	n, err := o.SectionReader.Read(p)
	o.count(n)
	return n, err
}

func (o *openFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.SectionReader.ReadAt(p, off)
	o.count(n)
	return n, err
}

func (o *openFile) count(n int) {
	o.fs.mu.Lock()
	defer o.fs.mu.Unlock()
	o.fs.read[o.name] += int64(n)
}

func (o *openFile) Close() error { return nil }

func (o *openFile) Stat() (fs.FileInfo, error) { return info{path.Base(o.name), o.node}, nil }

type info struct {
	name string
	node *node
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.node.size }
func (i info) Mode() fs.FileMode  { return i.node.mode }
func (i info) ModTime() time.Time { return i.node.mtime }
func (i info) IsDir() bool        { return i.node.mode.IsDir() }
func (i info) Sys() any           { return nil }

// dir is a directory as the search engine sees it: links are not followed.
type dir struct {
	fs   *FS
	path string
}

func (d *dir) ReadDir() ([]fs.DirEntry, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	children := d.fs.children(d.path)
	entries := make([]fs.DirEntry, 0, len(children))
	for name, n := range children {
		entries = append(entries, fs.FileInfoToDirEntry(info{name, n}))
	}
	return entries, nil
}

func (d *dir) Open(name string) (search.File, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	full := path.Join(d.path, name)
	n := d.fs.nodes[full]
	if n == nil {
		return nil, &fs.PathError{Op: "open", Path: full, Err: fs.ErrNotExist}
	}
	if !n.mode.IsRegular() {
		return nil, fmt.Errorf("open %q: %w", full, search.ErrNotRegular)
	}
	return d.fs.open(full, n), nil
}

func (d *dir) Sub(name string) (search.Dir, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	full := path.Join(d.path, name)
	if n := d.fs.find(full); n == nil || !n.mode.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: full, Err: errors.New("not a directory")}
	}
	return &dir{fs: d.fs, path: full}, nil
}

func (d *dir) Close() error { return nil }
