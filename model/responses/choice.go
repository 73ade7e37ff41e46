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

	mu      sync.Mutex
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

// Stream implements model.Provider. Where the server says that a model is to be asked in the
// other API, it is asked there at once, and from then on.
func (c *Choice) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		there := c.there(req.Model)
		for chunk, err := range c.provider(there).Stream(ctx, req) {
			if err != nil && c.switches(req.Model, there, err) {
				break
			}
			if !yield(chunk, err) || err != nil {
				return
			}
			if chunk.Kind == model.Finish {
				return
			}
		}
		if now := c.there(req.Model); now != there {
			c.provider(now).Stream(ctx, req)(yield)
		}
	}
}

// there reports whether a model is asked in the Responses API.
func (c *Choice) there(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if learned, known := c.learned[id]; known {
		return learned
	}
	return slices.ContainsFunc(c.families, func(family string) bool { return strings.HasPrefix(id, family) })
}

func (c *Choice) provider(there bool) model.Provider {
	if there {
		return c.responses
	}
	return c.chat
}

// switches notes what an error says of the API that a model is to be asked in. What was
// learned once stays: two APIs that name each other end in the second error.
func (c *Choice) switches(id string, there bool, err error) bool {
	var e *model.Error
	var d *wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.Interrupted || e.Status < 400 || e.Status > 499 {
		return false
	}
	if there && !noSuchPath(e, d) || !there && !d.WantsResponses() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if learned, known := c.learned[id]; known {
		return learned != there // another conversation was faster
	}
	c.learned[id] = !there
	c.responses.server.Logger.Info("the model server wants another API for this model", "model", id, "responses", !there, "said", d.Message)
	return true
}

// noSuchPath reports whether a server has no Responses API: it is not found, and nothing is
// said of the model.
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

// Close lets go of idle connections. Requests may still be made after it.
func (c *Choice) Close() { c.chat.Close() }

// String shows the server and no secrets.
func (c *Choice) String() string {
	return "responses.Choice{" + c.responses.server.Base.Redacted() + "}"
}

// GoString is String: %#v must not show the key either.
func (c *Choice) GoString() string { return c.String() }

var _ model.Provider = (*Choice)(nil)
