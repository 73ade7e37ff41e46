package websearch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// tavily is the Tavily search API.
type tavily struct {
	search *url.URL
	key    string
}

// Name implements [Provider].
func (tavily) Name() string { return Tavily }

// Endpoint implements [Provider].
func (t tavily) Endpoint() string { return endpoint(t.search) }

// Search implements [Provider].
func (t tavily) Search(ctx context.Context, do Do, query string, limit int) ([]Result, error) {
	body, err := json.Marshal(map[string]any{"query": query, "max_results": bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("%s: encode query: %w", Tavily, err)
	}
	var answer struct {
		Results []struct{ Title, URL, Content string }
	}
	err = fetch(ctx, do, label(Tavily, t.Endpoint()), Request{
		URL: t.search.String(), Method: http.MethodPost, Body: body,
		Header: map[string]string{
			"Accept": "application/json", "Content-Type": "application/json", "Authorization": "Bearer " + t.key,
		},
	}, &answer)
	if err != nil {
		return nil, err
	}
	var found collector
	for _, r := range answer.Results {
		found.add(r.Title, r.URL, r.Content)
	}
	return found.best(limit), nil
}
