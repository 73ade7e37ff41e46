package responses

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"

	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/model/wire"
)

// Choice is a model.Provider over a server that may have both Chat Completions and the
// Responses API, and asks each model in the one that is right for it. It is safe for
// concurrent use.
type Choice struct {
	chat      *openai.Provider
	responses *Provider
	families  []string

	mu      sync.Mutex      // guards what follows
	learned map[string]bool // by model: whether it is asked in the Responses API
}

// NewChoice returns a Choice over the server of a provider for Chat Completions. Models whose
// ids begin with one of the families are asked in the Responses API.
func NewChoice(chat *openai.Provider, families []string) (*Choice, error) {
	p, err := New(chat)
	if err != nil {
		return nil, err
	}
	return &Choice{chat: chat, responses: p, families: families, learned: map[string]bool{}}, nil
}

// Stream implements model.Provider. Where the server names the other API for a model, the model is
// asked there at once, and from then on.
func (c *Choice) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		inResponses := c.usesResponses(req.Model)
		for chunk, err := range c.provider(inResponses).Stream(ctx, req) {
			if err != nil && c.switches(req.Model, inResponses, err) {
				break
			}
			if !yield(chunk, err) || err != nil {
				return
			}
			if chunk.Kind == model.Finish {
				return
			}
		}
		if now := c.usesResponses(req.Model); now != inResponses {
			c.provider(now).Stream(ctx, req)(yield)
		}
	}
}

// usesResponses reports whether a model is asked in the Responses API.
func (c *Choice) usesResponses(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if learned, known := c.learned[id]; known {
		return learned
	}
	return slices.ContainsFunc(c.families, func(family string) bool { return strings.HasPrefix(id, family) })
}

func (c *Choice) provider(inResponses bool) model.Provider {
	if inResponses {
		return c.responses
	}
	return c.chat
}

// switches reports whether an error names the other API for a model, and notes it. What was learned
// once stays, so that a server whose two APIs name each other ends with the second error.
func (c *Choice) switches(id string, inResponses bool, err error) bool {
	var e *model.Error
	var d *wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.Interrupted || e.Status < 400 || e.Status > 499 {
		return false
	}
	if inResponses && !noSuchPath(e, d) || !inResponses && !d.WantsResponses() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if learned, known := c.learned[id]; known {
		return learned != inResponses // another conversation has learned it meanwhile
	}
	c.learned[id] = !inResponses
	c.responses.server.Logger.Info("the model server wants another API for this model", "model", id, "responses", !inResponses, "said", d.Message)
	return true
}

// noSuchPath reports whether a server has no Responses API: it is not found, and the error does not
// name the model.
func noSuchPath(e *model.Error, d *wire.Detail) bool {
	return (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) && !d.Contains("model", "item")
}

// Models implements model.Provider.
func (c *Choice) Models(ctx context.Context) ([]model.Info, error) { return c.chat.Models(ctx) }

// Probe implements model.Provider.
func (c *Choice) Probe(ctx context.Context, id string) ([]string, error) {
	return c.chat.Probe(ctx, id)
}

// Describe implements model.Provider.
func (c *Choice) Describe(ctx context.Context, id string) model.Info { return c.chat.Describe(ctx, id) }

// Close closes idle connections. Requests may still be made after it.
func (c *Choice) Close() { c.chat.Close() }

// String shows the server and no secrets.
func (c *Choice) String() string {
	return "responses.Choice{" + c.responses.server.Base.Redacted() + "}"
}

// GoString is String: %#v must not show the key either.
func (c *Choice) GoString() string { return c.String() }

var _ model.Provider = (*Choice)(nil)
