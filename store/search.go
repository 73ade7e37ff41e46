package store

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Query is a search over the texts of all sessions.
type Query struct {
	// Text has the words, all of which a part must have, in any case. Words between double quotes
	// are a phrase.
	Text string
	// Cwd is the directory of the wanted sessions; "" means all directories.
	Cwd string
	// Limit bounds the hits; zero means 50. PerSession bounds the hits of one session; zero means 3.
	Limit, PerSession int
}

// Hit is a part of a message that matches a Query.
type Hit struct {
	Session Info
	// MessageID is the message, and Subagent the id of the subagent to whose conversation it
	// belongs; "" for the session itself.
	MessageID, Subagent string
	User                bool
	At                  time.Time
	// Snippet is the text around the first of the words.
	Snippet string
}

const (
	defaultHits       = 50
	defaultPerSession = 3
)

// Search returns the hits, those of the session that was written last first. Sessions are searched in
// this order, until the limit is reached. It also finds messages that an undo has hidden. It does not find
// text in JSON escapes that encoding/json does not write.
func (s *Store) Search(ctx context.Context, q Query) ([]Hit, error) {
	words := wordsOf(q.Text)
	if s == nil || len(words) == 0 {
		return nil, nil
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = defaultHits
	}
	if q.PerSession <= 0 {
		q.PerSession = defaultPerSession
	}
	sr := &searcher{store: s, q: q, files: files, found: make([][]Hit, len(files))}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() { sr.work(ctx, newMatcher(words)) })
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	hits := slices.Concat(sr.found...)
	return hits[:min(len(hits), q.Limit)], sr.err
}

// wordsOf splits a query into its words.
func wordsOf(text string) []string {
	var words []string
	for i, quoted := range strings.Split(text, `"`) {
		if i%2 == 1 {
			if quoted = strings.TrimSpace(quoted); quoted != "" {
				words = append(words, quoted)
			}
			continue
		}
		words = append(words, strings.Fields(quoted)...)
	}
	return words
}

// searcher hands files out to its workers, in order.
type searcher struct {
	store *Store
	q     Query
	files []file
	found [][]Hit // by file

	mu   sync.Mutex // guards what follows
	next int
	hits int
	err  error
}

func (sr *searcher) work(ctx context.Context, m *matcher) {
	for ctx.Err() == nil {
		sr.mu.Lock()
		i := sr.next
		sr.next++
		stop := i >= len(sr.files) || sr.hits >= sr.q.Limit
		sr.mu.Unlock()
		if stop {
			return
		}
		hits, err := sr.file(ctx, m, sr.files[i])
		sr.found[i] = hits
		sr.mu.Lock()
		sr.hits += len(hits)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			sr.err = errors.Join(sr.err, err)
		}
		sr.mu.Unlock()
	}
}

func (sr *searcher) file(ctx context.Context, m *matcher, f file) ([]Hit, error) {
	var info Info
	if sr.q.Cwd != "" {
		known, ok := sr.store.cache.info(sr.store, f, sr.q.Cwd)
		if !ok {
			return nil, nil
		}
		info = known
	}
	hits, err := m.file(ctx, sr.store.path(f.id, recordEnd), sr.q.PerSession)
	if len(hits) == 0 {
		return nil, err
	}
	if info.ID == "" {
		info, _ = sr.store.cache.info(sr.store, f, "")
	}
	for i := range hits {
		hits[i].Session = info
	}
	return hits, err
}
