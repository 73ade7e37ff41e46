package router

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"acp-agent/model"
)

// Server is one model server.
type Server struct {
	// Name stands before the slash, Title above its models.
	Name, Title string
	// Open makes its provider, without touching the network. It is called once.
	Open func() (model.Provider, error)
	// Missing says why it cannot be used; empty means that it can.
	Missing string
	// Models are offered without asking; with Discover the server is asked.
	Models   []string
	Discover bool
	// Owners says that its ids may hold a slash of their own. It counts for the default
	// server: elsewhere "x/y" means a provider x that does not exist.
	Owners bool
}

// UnknownError reports a model whose provider does not exist or cannot be used.
type UnknownError struct {
	Model string
	// Why says why the provider cannot be used; empty means that there is none.
	Why string
	// Known are the names of the providers that can be used.
	Known []string
}

// Error names the providers that exist.
func (e *UnknownError) Error() string {
	why := e.Why
	if why == "" {
		why = "there is no such provider"
	}
	return fmt.Sprintf("the model %q cannot be used: %s; providers: %s", e.Model, why, strings.Join(e.Known, ", "))
}

// Router is a model.Provider over several servers. It is safe for concurrent use.
type Router struct {
	servers  []*opened
	fallback string
}

// opened is a server once it is used.
type opened struct {
	Server
	open func() (model.Provider, error)

	mu     sync.Mutex   // guards listed
	listed []model.Info // the last list that the server gave
}

// New returns a router. The fallback names the server of models without a provider; empty
// means that there is none.
func New(servers []Server, fallback string) *Router {
	r := &Router{fallback: fallback}
	for _, s := range servers {
		r.servers = append(r.servers, &opened{Server: s, open: sync.OnceValues(s.Open)})
	}
	return r
}

// Split takes the name of a model apart: which server it means, and the id there.
func (r *Router) Split(name string) (server, id string, err error) {
	s, id, err := r.find(name)
	if err != nil {
		return "", "", err
	}
	return s.Name, id, nil
}

// Check says why a model's name cannot be used; nil when it can.
func (r *Router) Check(name string) error {
	_, _, err := r.find(name)
	return err
}

func (r *Router) find(name string) (*opened, string, error) {
	prefix, id, qualified := strings.Cut(name, "/")
	var fallback *opened
	for _, s := range r.servers {
		if qualified && s.Name == prefix {
			if s.Missing != "" {
				return nil, "", &UnknownError{Model: name, Why: s.Missing, Known: r.usable()}
			}
			return s, id, nil
		}
		if s.Name == r.fallback {
			fallback = s
		}
	}
	switch {
	case fallback == nil && !qualified:
		return nil, "", &UnknownError{Model: name, Why: "its name has no provider before a slash", Known: r.usable()}
	case fallback == nil || qualified && !fallback.Owners:
		return nil, "", &UnknownError{Model: name, Known: r.usable()}
	case fallback.Missing != "":
		return nil, "", &UnknownError{Model: name, Why: fallback.Missing, Known: r.usable()}
	}
	return fallback, name, nil
}

func (r *Router) usable() []string {
	var names []string
	for _, s := range r.servers {
		if s.Missing == "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// provider returns the server of a model, and the id there.
func (r *Router) provider(name string) (model.Provider, *opened, string, error) {
	s, id, err := r.find(name)
	if err != nil {
		return nil, nil, "", err
	}
	p, err := s.open()
	return p, s, id, err
}

// memo is a conversation's Memo: that of the server which answered last.
type memo struct {
	server *opened
	model.Memo
}

// Stream implements model.Provider. What a provider keeps of a conversation is its own: it
// is dropped when another server answers.
func (r *Router) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	p, s, id, err := r.provider(req.Model)
	if err != nil {
		e := &model.Error{Kind: model.Invalid, Message: err.Error(), Hint: "choose another model", Err: err}
		return func(yield func(model.Chunk, error) bool) { yield(model.Chunk{}, e) }
	}
	inner := *req
	inner.Model = id
	if req.Memo != nil {
		kept, ok := req.Memo.Value.(*memo)
		if !ok || kept.server != s {
			kept = &memo{server: s}
			req.Memo.Value = kept
		}
		inner.Memo = &kept.Memo
	}
	return p.Stream(ctx, &inner)
}

// Models implements model.Provider: the models of all servers that can be used. It fails
// only when no server answered.
func (r *Router) Models(ctx context.Context) ([]model.Info, error) {
	lists, failures := make([][]model.Info, len(r.servers)), make([]error, len(r.servers))
	var asking sync.WaitGroup
	for i, s := range r.servers {
		if s.Missing == "" {
			asking.Go(func() { lists[i], failures[i] = s.models(ctx) })
		}
	}
	asking.Wait()
	all := slices.Concat(lists...)
	for _, err := range failures {
		if err != nil && len(all) == 0 {
			return nil, err
		}
	}
	return all, nil
}

// models are those of one server: the configured ones first.
func (s *opened) models(ctx context.Context) ([]model.Info, error) {
	p, err := s.open()
	if err != nil {
		return nil, err
	}
	var list []model.Info
	for _, id := range s.Models {
		list = append(list, s.qualify(p.Describe(ctx, id)))
	}
	if !s.Discover {
		return list, nil
	}
	s.mu.Lock()
	found := s.listed
	s.mu.Unlock()
	if found == nil {
		if found, err = p.Models(ctx); err != nil {
			return list, err
		}
		s.mu.Lock()
		s.listed = found
		s.mu.Unlock()
	}
	for _, info := range found {
		if !slices.Contains(s.Models, info.ID) {
			list = append(list, s.qualify(info))
		}
	}
	return list, nil
}

// qualify names a model with its provider.
func (s *opened) qualify(info model.Info) model.Info {
	info.ID, info.Group = s.Name+"/"+info.ID, s.Title
	return info
}

// Probe implements model.Provider.
func (r *Router) Probe(ctx context.Context, name string) ([]string, error) {
	p, _, id, err := r.provider(name)
	if err != nil {
		return nil, err
	}
	return p.Probe(ctx, id)
}

// Describe implements model.Provider.
func (r *Router) Describe(ctx context.Context, name string) model.Info {
	p, s, id, err := r.provider(name)
	if err != nil {
		return model.Info{ID: name}
	}
	return s.qualify(p.Describe(ctx, id))
}

var _ model.Provider = (*Router)(nil)
