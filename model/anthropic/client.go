package anthropic

import (
	"context"
	"net/http"
	"net/url"

	"acp-agent/model/wire"
)

// apiVersion is sent with each request; without it the API answers 400. The version of
// 2026-10-21 takes away temperature, and other servers do not know it; of each version the
// API keeps inputs and outputs (platform.claude.com/docs/en/api/versioning).
const apiVersion = "2023-06-01"

// interleavedBeta lets Claude 4 models with a budget think between tool calls; models that
// choose their thinking themselves do so without it
// (platform.claude.com/docs/en/build-with-claude/extended-thinking, Interleaved thinking).
const interleavedBeta = "interleaved-thinking-2025-05-14"

// post sends the body of a step.
func (p *Provider) post(ctx context.Context, body string, interleaved bool) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address("messages").String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	wire.NewBody(body).SendWith(req)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	if interleaved && p.official() {
		req.Header.Set("Anthropic-Beta", interleavedBeta)
	}
	return p.send(req)
}

// get asks for a path below /v1.
func (p *Provider) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	target := p.address(path)
	all := target.Query()
	for name, values := range query {
		all[name] = values
	}
	target.RawQuery = all.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	return p.send(req)
}

// send adds what every request has. A header of the options replaces ours.
func (p *Provider) send(req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", "acp-agent/"+p.opts.Version)
	req.Header.Set("Anthropic-Version", apiVersion)
	if p.opts.APIKey != "" {
		req.Header.Set("X-Api-Key", p.opts.APIKey)
	}
	for name, value := range p.opts.Headers {
		req.Header.Set(name, value)
	}
	res, err := (&http.Client{Transport: p.transport, CheckRedirect: wire.CheckRedirect}).Do(req)
	if err != nil {
		return nil, err
	}
	return p.server.CheckStatus(res)
}
