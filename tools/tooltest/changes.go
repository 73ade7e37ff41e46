package tooltest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"acp-agent/tools"
)

// past is what a file was before a change, and what the change made of it.
type past struct {
	path        string
	before, now *node
}

// Remove implements [tools.FS].
func (f *FS) Remove(ctx context.Context, name string, before *tools.Text) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.Secret(name) {
		return secretRefused(f.abs(name))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	abs := f.abs(name)
	key := f.nameOf(abs)
	n := f.nodes[key]
	if n == nil || n.link == "" {
		var err error
		if key, n, err = f.lookup(OpRemove, name); err != nil {
			return err
		}
	}
	switch {
	case f.faults[OpRemove+" "+abs] != nil:
		return f.faults[OpRemove+" "+abs]
	case n.mode.IsDir():
		return tools.Errorf(tools.BadInput, "%s is a directory", abs)
	}
	if before != nil {
		if now, err := f.text(name); err != nil || now != *before {
			return tools.Errorf(tools.BadInput, "%s changed while it was being removed; nothing was done", abs)
		}
	}
	f.replace(key, nil)
	return nil
}

// Rename implements [tools.FS].
func (f *FS) Rename(ctx context.Context, from, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.Secret(from) || f.Secret(to) {
		return secretRefused(f.abs(from))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key, n, err := f.lookup(OpRename, from)
	target := f.resolve(f.abs(to))
	switch {
	case err != nil:
		return err
	case !n.mode.IsRegular():
		return tools.Errorf(tools.BadInput, "%s is not a regular file", f.abs(from))
	case f.find(target) != nil:
		return &fs.PathError{Op: OpRename, Path: f.abs(to), Err: fs.ErrExist}
	case f.find(path.Dir(target)) != nil && !f.find(path.Dir(target)).mode.IsDir():
		return tools.Errorf(tools.BadInput, "%s is not a directory", path.Dir(f.abs(to)))
	}
	f.replace(target, n)
	f.replace(key, nil)
	return nil
}

// replace puts a node in a place, nil for none, and remembers what was there.
// The caller holds mu.
func (f *FS) replace(key string, n *node) {
	f.past = append(f.past, past{path: key, before: f.nodes[key], now: n})
	f.put(key, n)
}

func (f *FS) put(key string, n *node) {
	f.writes = append(f.writes, key)
	delete(f.editor, key)
	if n == nil {
		delete(f.nodes, key)
		return
	}
	f.nodes[key] = n
}

// changes implements [tools.Changes] over the changes of an FS.
type changes struct{ fs *FS }

// Last implements [tools.Changes].
func (c changes) Last(_ context.Context, name string) (tools.Change, error) {
	c.fs.mu.Lock()
	defer c.fs.mu.Unlock()
	_, change, err := c.last(name)
	return change, err
}

func (c changes) last(name string) (int, tools.Change, error) {
	abs := c.fs.abs(name)
	key := c.fs.resolve(abs)
	for i, p := range slices.Backward(c.fs.past) {
		if p.path != key {
			continue
		}
		if c.fs.nodes[key] != p.now {
			return 0, tools.Change{}, tools.Errorf(tools.BadInput, "%s changed since; nothing was undone", abs)
		}
		return i, tools.Change{Path: abs, Old: p.now.text(), New: p.before.text(), Exists: p.before != nil}, nil
	}
	return 0, tools.Change{}, tools.Errorf(tools.BadInput, "nothing to undo for %s", abs)
}

// Undo implements [tools.Changes].
func (c changes) Undo(_ context.Context, name string) (tools.Change, error) {
	c.fs.mu.Lock()
	defer c.fs.mu.Unlock()
	i, change, err := c.last(name)
	if err != nil {
		return tools.Change{}, err
	}
	c.fs.put(c.fs.past[i].path, c.fs.past[i].before)
	c.fs.past = slices.Delete(c.fs.past, i, i+1)
	return change, nil
}

// Rollback implements [tools.Changes]: every change since New is of one call.
func (c changes) Rollback(context.Context) []error {
	c.fs.mu.Lock()
	defer c.fs.mu.Unlock()
	var failed []error
	for _, p := range slices.Backward(c.fs.past) {
		if err := c.fs.faults[OpRestore+" "+p.path]; err != nil {
			failed = append(failed, fmt.Errorf("restore %s: %w", p.path, err))
			continue
		}
		if c.fs.nodes[p.path] != p.now {
			failed = append(failed, errors.New("restore "+p.path+": it changed since"))
			continue
		}
		c.fs.put(p.path, p.before)
	}
	c.fs.past = nil
	return failed
}
