package openai

import (
	"context"
	"net/http"
	"slices"

	"acp-agent/model"
	"acp-agent/model/catalogue"
	"acp-agent/model/wire"
)

// What another dialect of the same server needs of it: the connection, and what is known of
// its models.

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
func (p *Provider) Official() bool { return p.official() }

// Reasons says whether a model thinks, as far as the model catalogue knows.
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

// ImagesRefused notes that a model takes no images, where an error says so of a request that
// has some, and returns what is said to the user.
func (p *Provider) ImagesRefused(req *model.Request, err error) (warning model.Chunk, ok bool) {
	return p.imagesRefused(req, err)
}
