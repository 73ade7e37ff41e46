package lsp

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"acp-agent/internal/fileuri"
)

// documents are the files that the server knows from us rather than from the
// disk.
type documents struct {
	// token is held by the goroutine that tells the server of open files, and guards them.
	token chan struct{}
	open  map[string]*openDocument // by path

	mu      sync.Mutex
	users   map[string]int  // queries under way about an open file
	changed map[string]bool // paths that changed on disk since the server was told
}

// openDocument is a file that was opened at the server.
type openDocument struct {
	text    string
	version int
}

// maxChanged bounds the paths that are remembered for a server.
const maxChanged = 10_000

func newDocuments() documents {
	return documents{
		token: make(chan struct{}, 1), open: map[string]*openDocument{},
		users: map[string]int{}, changed: map[string]bool{},
	}
}

// note remembers that files changed on disk.
func (d *documents) note(paths []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range paths {
		if len(d.changed) < maxChanged {
			d.changed[p] = true
		}
	}
}

func (d *documents) takeChanged() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	paths := slices.Sorted(maps.Keys(d.changed))
	clear(d.changed)
	return paths
}

// use counts a query about a file in, or out with -1.
func (d *documents) use(path string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users[path] += n; d.users[path] == 0 {
		delete(d.users, path)
	}
}

// idle lists the open files that no query is about.
func (d *documents) idle() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var paths []string
	for path := range d.open {
		if d.users[path] == 0 {
			paths = append(paths, path)
		}
	}
	return paths
}

// show makes the server see the file as the query does. Other files that no one
// asks about any more are closed, so that it reads them from the disk again. done
// ends the use of the file.
func (c *connection) show(ctx context.Context, q Query) (version int, done func(), err error) {
	d := &c.docs
	select {
	case d.token <- struct{}{}:
		defer func() { <-d.token }()
	case <-ctx.Done():
		return 0, nil, context.Cause(ctx)
	}
	d.use(q.Path, 1)
	leave := func() { d.use(q.Path, -1) }
	defer func() {
		if err != nil {
			leave()
		}
	}()
	if err := c.tellChanged(ctx); err != nil {
		return 0, nil, err
	}
	for _, path := range d.idle() {
		if err := c.notify(ctx, "textDocument/didClose", documentParams{document{fileuri.Of(path)}}); err != nil {
			return 0, nil, err
		}
		delete(d.open, path)
		c.news.forget(path)
	}
	doc, err := c.update(ctx, q)
	if err != nil {
		return 0, nil, err
	}
	return doc.version, leave, nil
}

// update opens the file or changes it to the query's text.
func (c *connection) update(ctx context.Context, q Query) (*openDocument, error) {
	doc := c.docs.open[q.Path]
	switch {
	case doc == nil:
		doc = &openDocument{text: q.Text, version: 1}
		c.news.expect(q.Path)
		params := openParams{documentItem{
			URI: fileuri.Of(q.Path), LanguageID: c.server.Languages[extension(q.Path)], Version: doc.version, Text: q.Text,
		}}
		if err := c.notify(ctx, "textDocument/didOpen", params); err != nil {
			return nil, err
		}
		c.docs.open[q.Path] = doc
	case doc.text != q.Text:
		c.news.expect(q.Path)
		params := changeParams{documentVersion{fileuri.Of(q.Path), doc.version + 1}, []wholeText{{q.Text}}}
		if err := c.notify(ctx, "textDocument/didChange", params); err != nil {
			return nil, err
		}
		doc.text = q.Text // only now: the server has it
		doc.version++
	}
	return doc, nil
}

// tellChanged tells the server of the files that changed on disk: it does not
// look for itself.
func (c *connection) tellChanged(ctx context.Context) error {
	var params watchedParams
	paths := c.docs.takeChanged()
	for _, path := range paths {
		kind := fileChanged
		if c.deleted(path) {
			kind = fileDeleted
		}
		params.Changes = append(params.Changes, watched{fileuri.Of(path), kind})
	}
	if len(params.Changes) == 0 {
		return nil
	}
	err := c.notify(ctx, "workspace/didChangeWatchedFiles", params)
	if err != nil {
		c.docs.note(paths) // the server does not know yet
	}
	return err
}

// deleted reports whether a file is gone. Of one that may not be opened, the server
// is told that it changed.
func (c *connection) deleted(path string) bool {
	f, err := c.o.Open(path)
	if err == nil {
		_ = f.Close() // only opened to see
	}
	return errors.Is(err, fs.ErrNotExist)
}
