package openai

import (
	"context"
	"net/http"
	"strings"

	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"acp-agent/model/wire"
)

// client sends requests to the base URL.
type client struct {
	official official.Client
}

// newClient makes the official client without its constructor, which reads the
// environment.
func (p *Provider) newClient() *client {
	options := []option.RequestOption{
		option.WithHTTPClient(&http.Client{Transport: p.transport, CheckRedirect: wire.CheckRedirect}),
		option.WithBaseURL(p.base.String()),
		option.WithMaxRetries(0),
		option.WithMiddleware(p.middleware),
	}
	if p.opts.APIKey != "" {
		options = append(options, option.WithAPIKey(p.opts.APIKey))
	}
	for name, value := range p.opts.Headers {
		options = append(options, option.WithHeader(name, value))
	}
	for name, values := range p.base.Query() {
		for _, value := range values {
			options = append(options, option.WithQueryAdd(name, value))
		}
	}
	return &client{official.Client{Options: options}}
}

// post sends body and returns the answer, which is a success; the caller closes
// it.
func (c *client) post(ctx context.Context, path string, body wire.Pieces) (*http.Response, error) {
	var res *http.Response
	err := c.official.Post(ctx, path, nil, &res,
		option.WithRequestBody("application/json", wire.NewBody(body...)), option.WithHeader("Accept", "text/event-stream, application/json"))
	return res, err
}

// get is post for a request without a body.
func (c *client) get(ctx context.Context, path string) (*http.Response, error) {
	var res *http.Response
	err := c.official.Get(ctx, path, nil, &res)
	return res, err
}

// middleware takes off what the official client tells about the machine, and
// turns an answer that says no into a *model.Error: the official errors read
// the body without a bound, and hold the request with its key.
func (p *Provider) middleware(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	if strings.HasPrefix(req.Header.Get("User-Agent"), "OpenAI/") {
		req.Header.Set("User-Agent", "acp-agent/"+p.opts.Version)
	}
	if body, ok := req.Body.(*wire.Body); ok {
		body.SendWith(req)
	}
	res, err := next(req)
	if err != nil {
		return nil, err
	}
	return p.server.CheckStatus(res)
}
