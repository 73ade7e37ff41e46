package responses

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/model/wire"
)

// Provider is a model.Provider. It is safe for concurrent use.
type Provider struct {
	chat   *openai.Provider
	server *wire.Server
	extra  []wire.Param

	mu      sync.Mutex // guards what follows
	dropped map[refused]bool
}

// refused is a parameter, or a way to write something, that a server did not take for a
// model.
type refused struct{ model, name string }

// New returns a Provider that asks the server of another one, or an error when the options
// of that make no sense for this API. It does not touch the network.
func New(chat *openai.Provider) (*Provider, error) {
	extra := chat.Extra()
	for _, name := range []string{"input", "instructions"} {
		if slices.ContainsFunc(extra, func(one wire.Param) bool { return one.Name == name }) {
			return nil, fmt.Errorf("extra body: %q cannot be replaced", name)
		}
	}
	return &Provider{chat: chat, server: chat.Server(), extra: extra, dropped: map[refused]bool{}}, nil
}

// Close closes idle connections. Requests may still be made after it.
func (p *Provider) Close() { p.chat.Close() }

// String shows the server and no secrets.
func (p *Provider) String() string { return "responses.Provider{" + p.server.Base.Redacted() + "}" }

// GoString is String: %#v must not show the key either.
func (p *Provider) GoString() string { return p.String() }

// Local reports whether the server is on this machine or this network.
func (p *Provider) Local() bool { return p.server.Local }

// Models implements model.Provider.
func (p *Provider) Models(ctx context.Context) ([]model.Info, error) { return p.chat.Models(ctx) }

// Probe implements model.Provider.
func (p *Provider) Probe(ctx context.Context, id string) ([]string, error) {
	return p.chat.Probe(ctx, id)
}

// Describe implements model.Provider.
func (p *Provider) Describe(ctx context.Context, id string) model.Info {
	return p.chat.Describe(ctx, id)
}

// origin names who writes an answer, see transcript.Message. What a model of one server
// thought, another cannot decrypt, and its thoughts are not another model's.
func (p *Provider) origin(id string) string {
	base := p.server.Base
	return "responses " + base.Scheme + "://" + base.Host + strings.TrimRight(base.Path, "/") + " " + id
}

// takes reports whether the server takes a parameter for a model, as far as it is known.
func (p *Provider) takes(id, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dropped[refused{id, name}]
}

// drop notes that the server does not take a parameter for a model.
func (p *Provider) drop(id, name string) {
	p.server.Logger.Debug("model server refused a parameter", "model", id, "parameter", name)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped[refused{id, name}] = true
}

var _ model.Provider = (*Provider)(nil)
