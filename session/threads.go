package session

import (
	"context"
	"errors"
	"strings"

	"acp-agent/export"
	"acp-agent/store"
	"acp-agent/tools"
)

// threads are the other stored conversations of a session's directory (tools.Threads). Those of subagents
// are not among them.
type threads struct {
	store *store.Store
	// id is the session's own.
	id, cwd string
}

// threadsOf are the threads of a session; nil where nothing is stored.
func threadsOf(o opened) tools.Threads {
	if o.host.Store == nil {
		return nil
	}
	return threads{o.host.Store, o.ID, o.spec.Cwd}
}

// mostHits bounds the hits of a search.
const mostHits = 500

// Find implements tools.Threads.
func (t threads) Find(ctx context.Context, query string, limit int) ([]tools.Thread, error) {
	if strings.TrimSpace(strings.ReplaceAll(query, `"`, "")) == "" {
		page, err := t.store.List(store.ListOptions{Cwd: t.cwd, Limit: 2*limit + 1})
		var list []tools.Thread
		for _, info := range page.Sessions {
			if t.sees(info) && len(list) < limit {
				list = append(list, threadOf(info))
			}
		}
		return list, err
	}
	hits, err := t.store.Search(ctx, store.Query{Text: query, Cwd: t.cwd, Limit: mostHits})
	var list []tools.Thread
	for _, hit := range hits {
		if !t.sees(hit.Session) {
			continue
		}
		if n := len(list); n == 0 || list[n-1].ID != hit.Session.ID {
			if n == limit {
				break
			}
			list = append(list, threadOf(hit.Session))
		}
		last := &list[len(list)-1]
		last.Found = append(last.Found, hit.Snippet)
	}
	return list, err
}

// Read implements tools.Threads.
func (t threads) Read(ctx context.Context, id string) (tools.Thread, string, error) {
	st, err := t.store.Load(id)
	if err == nil && !t.sees(st.Info) {
		err = store.ErrNotFound // a conversation of another directory may not be read
	}
	if errors.Is(err, store.ErrNotFound) {
		return tools.Thread{}, "", &tools.Error{
			Kind: tools.BadInput, Message: "this directory has no other conversation with the id " + id, Hint: "find_thread lists them.",
		}
	}
	if err != nil {
		return tools.Thread{}, "", err
	}
	var text strings.Builder
	err = export.Write(ctx, &text, export.Text, export.Of(st), export.Options{})
	return threadOf(st.Info), text.String(), err
}

// sees reports whether a conversation is among the threads.
func (t threads) sees(info store.Info) bool {
	return info.ID != t.id && info.Cwd == t.cwd && info.ParentID == ""
}

func threadOf(info store.Info) tools.Thread {
	return tools.Thread{ID: info.ID, Title: info.Title, Updated: info.Updated, Turns: info.Turns}
}
