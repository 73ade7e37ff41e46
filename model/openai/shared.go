package openai

import (
	"context"
	"net/http"
	"slices"

	"acp-agent/model"
	"acp-agent/model/catalogue"
	"acp-agent/model/wire"
)

// What model/responses uses of a Provider, because it asks the same server: the connection, and
// what is known of the models.

// Server is the server as requests and errors need it.
func (p *Provider) Server() *wire.Server { return p.server }

// Post sends a body to a path below the base URL and returns the answer, which is a success;
// the caller closes it.
func (p *Provider) Post(ctx context.Context, path string, body wire.Pieces) (*http.Response, error) {
	return p.client.post(ctx, path, body)
}

// Extra are the members of the request that the options add.
func (p *Provider) Extra() []wire.Param { return slices.Clone(p.extra) }

// Official reports whether the server is OpenAI itself.
func (p *Provider) Official() bool { return p.base.Hostname() == "api.openai.com" }

// Reasons says whether a model thinks, perhaps out of sight before it answers, by the model
// catalogue.
func (p *Provider) Reasons(id string) model.Answer {
	entry, _ := catalogue.Find(p.opts.Catalogue, id)
	switch {
	case entry.Reasons:
		return model.Yes
	case entry.Listed:
		return model.No
	}
	return model.Unknown
}

// Effort is what the server calls a thought level.
func (p *Provider) Effort(id, level string) string {
	entry, _ := catalogue.Find(p.opts.Catalogue, id)
	return effortOf(entry, level)
}
