package tooltest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/redact"
	"acp-agent/internal/search"
	"acp-agent/tools"
)

// Stat implements [tools.FS].
func (f *FS) Stat(ctx context.Context, name string) (tools.FileInfo, error) {
	if err := ctx.Err(); err != nil {
		return tools.FileInfo{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	resolved, n, err := f.lookup(OpStat, name)
	if err != nil {
		return tools.FileInfo{}, err
	}
	return tools.FileInfo{
		Path: f.abs(name), Real: resolved, Size: n.size, Mode: n.mode, ModTime: n.mtime, IsDir: n.mode.IsDir(),
	}, nil
}

// Readlink implements [tools.FS].
func (f *FS) Readlink(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.nodes[f.nameOf(f.abs(name))]; n != nil {
		return n.link, nil
	}
	return "", nil
}

// nameOf resolves the directory of a path, but not its name.
func (f *FS) nameOf(abs string) string { return path.Join(f.resolve(path.Dir(abs)), path.Base(abs)) }

// List implements [tools.FS].
func (f *FS) List(ctx context.Context, name string, limit int) ([]tools.DirEntry, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	resolved, _, err := f.lookup(OpList, name)
	if err != nil {
		return nil, false, err
	}
	children := f.children(resolved)
	entries := make([]tools.DirEntry, 0, len(children))
	for _, child := range slices.Sorted(maps.Keys(children)) {
		if len(entries) == limit {
			return entries, true, nil
		}
		target := f.find(f.resolve(path.Join(resolved, child)))
		entries = append(entries, tools.DirEntry{Name: child, IsDir: target != nil && target.mode.IsDir()})
	}
	return entries, false, nil
}

// children maps the names in a directory to their nodes, links not followed.
func (f *FS) children(dir string) map[string]*node {
	prefix := strings.TrimSuffix(dir, "/") + "/"
	found := map[string]*node{}
	for key := range f.nodes {
		rest, beneath := strings.CutPrefix(key, prefix)
		if !beneath || rest == "" {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		found[name] = f.find(prefix + name)
	}
	return found
}

// Open implements [tools.FS].
func (f *FS) Open(ctx context.Context, name string) (tools.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.Secret(name) {
		return nil, secretRefused(f.abs(name))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	resolved, n, err := f.lookup(OpOpen, name)
	if err != nil {
		return nil, err
	}
	if !n.mode.IsRegular() {
		return nil, &tools.Error{
			Kind: tools.BadInput, Path: f.abs(name), Message: fmt.Sprintf("%s is not a regular file", f.abs(name)),
		}
	}
	return f.open(resolved, n), nil
}

// ReadLines implements [tools.FS].
func (f *FS) ReadLines(ctx context.Context, name string, from, to int) (string, bool, error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	if f.Secret(name) {
		return "", false, secretRefused(f.abs(name))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	text, ok := f.editor[f.abs(name)]
	if !ok {
		return "", false, nil
	}
	lines := strings.SplitAfter(text, "\n")
	from = min(max(from, 1), len(lines)+1)
	to = min(max(to, from-1), len(lines))
	return strings.Join(lines[from-1:to], ""), true, f.faults[OpRead+" "+f.abs(name)]
}

// ReadText implements [tools.FS].
func (f *FS) ReadText(ctx context.Context, name string) (tools.Text, error) {
	if err := ctx.Err(); err != nil {
		return tools.Text{}, err
	}
	if f.Secret(name) {
		return tools.Text{}, secretRefused(f.abs(name))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text(name)
}

func (f *FS) text(name string) (tools.Text, error) {
	abs := f.abs(name)
	if text, ok := f.editor[abs]; ok {
		return tools.Text{Content: text, FromEditor: true, Exists: true}, nil
	}
	_, n, err := f.lookup(OpRead, name)
	switch {
	case n == nil && f.faults[OpRead+" "+abs] == nil:
		return tools.Text{}, nil
	case err != nil:
		return tools.Text{}, err
	case !n.mode.IsRegular():
		return tools.Text{}, tools.Errorf(tools.BadInput, "%s is not a regular file", abs)
	case n.size > f.maxBytes:
		return tools.Text{}, tools.Oversize(abs, n.size, f.maxBytes)
	}
	content, err := io.ReadAll(io.NewSectionReader(n.data, 0, n.size))
	if err != nil {
		return tools.Text{}, fmt.Errorf("read %q: %w", abs, err)
	}
	return tools.Text{Content: string(content), Exists: true}, nil
}

// WriteText implements [tools.FS].
func (f *FS) WriteText(ctx context.Context, name, text string, before *tools.Text) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	abs := f.abs(name)
	if _, err := f.Stat(ctx, name); err == nil && f.Secret(name) {
		return secretRefused(abs)
	}
	if f.before != nil {
		f.before(abs)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.faults[OpWrite+" "+abs]; err != nil {
		return err
	}
	if before != nil {
		if now, err := f.text(name); err != nil || now != *before {
			return &tools.Error{
				Kind: tools.Backend, Path: abs, Err: tools.ErrChanged,
				Message: abs + " changed while it was being edited; nothing was written",
			}
		}
	}
	if _, open := f.editor[abs]; open {
		f.editor[abs] = text
	}
	mode := fs.FileMode(0o644)
	resolved := f.resolve(abs)
	if old := f.nodes[resolved]; old != nil {
		mode = old.mode
	}
	changed := &node{data: strings.NewReader(text), size: int64(len(text)), mode: mode, mtime: epoch()}
	f.past = append(f.past, past{path: resolved, before: f.nodes[resolved], now: changed})
	f.nodes[resolved] = changed
	f.writes = append(f.writes, abs)
	return nil
}

// Apply implements [tools.FS]. It makes one change after the other; what was made before
// one fails is for the caller to take back.
func (f *FS) Apply(ctx context.Context, changes []tools.FileChange) error {
	for _, c := range changes {
		var err error
		if c.Text != nil {
			err = f.WriteText(ctx, c.Path, *c.Text, c.Before)
		}
		switch {
		case err != nil:
		case c.Delete:
			err = f.Remove(ctx, c.Path, c.Before)
		case c.To != "":
			err = f.Rename(ctx, c.Path, c.To)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Lock implements [tools.FS].
func (f *FS) Lock(ctx context.Context, name string) (func(), error) {
	f.mu.Lock()
	key := f.resolve(f.abs(name))
	lock, ok := f.locks[key]
	if !ok {
		lock = make(chan struct{}, 1)
		f.locks[key] = lock
	}
	f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Dir implements [tools.FS].
func (f *FS) Dir(ctx context.Context, name string) (search.Dir, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	resolved, n, err := f.lookup(OpOpen, name)
	if err != nil {
		return nil, err
	}
	if !n.mode.IsDir() {
		return nil, tools.Errorf(tools.BadInput, "%s is not a directory", f.abs(name))
	}
	return &dir{fs: f, path: resolved}, nil
}

// SecretName implements [tools.FS].
func (f *FS) SecretName(name string) bool { return f.secret(name) }

// HoldsAddress implements [tools.FS], for files of the name .gitmodules.
func (f *FS) HoldsAddress(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	resolved, n, err := f.lookup(OpRead, name)
	if err != nil || path.Base(filepath.ToSlash(resolved)) != ".gitmodules" {
		return false
	}
	data, err := io.ReadAll(io.NewSectionReader(n.data, 0, n.size))
	return err != nil || redact.Addresses(string(data)) != string(data)
}

// Hidden implements [tools.FS]. There are no rules.
func (*FS) Hidden(string) bool { return false }

// Secret implements [tools.FS].
func (f *FS) Secret(name string) bool {
	abs := f.abs(name)
	return f.secret(abs) || f.secret(f.Resolve(abs))
}

// secretRefused is what every operation on the content of a secret file gives,
// so that a tool which forgets to ask is found out.
func secretRefused(path string) error {
	return &tools.Error{Kind: tools.Denied, Path: path, Message: "the file system refuses secret files"}
}
