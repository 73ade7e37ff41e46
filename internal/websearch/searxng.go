package websearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// searxng is an instance of the self-hosted metasearch engine, asked by GET
// /search?format=json. How many results a page has is the instance's choice.
type searxng struct{ search *url.URL }

// Name implements [Provider].
func (searxng) Name() string { return SearXNG }

// Endpoint implements [Provider].
func (s searxng) Endpoint() string { return endpoint(s.search) }

// Search implements [Provider].
func (s searxng) Search(ctx context.Context, do Do, query string, limit int) ([]Result, error) {
	var answer struct {
		Results []struct{ Title, URL, Content string }
	}
	err := fetch(ctx, do, label(SearXNG, s.Endpoint()), Request{
		URL: with(s.search, url.Values{"q": {query}, "format": {"json"}}), Method: http.MethodGet,
		Header: map[string]string{"Accept": "application/json"},
	}, &answer)
	if errors.Is(err, ErrAuth) {
		// An instance gives status 403 for formats that it does not offer.
		return nil, fmt.Errorf("%w; or its settings do not list json in search.formats", err)
	}
	if err != nil {
		return nil, err
	}
	var found collector
	for _, r := range answer.Results {
		found.add(r.Title, r.URL, r.Content)
	}
	return found.best(limit), nil
}
