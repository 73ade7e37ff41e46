package websearch

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// brave is the Brave Search API. Its descriptions hold HTML.
type brave struct {
	search *url.URL
	key    string
}

// Name implements [Provider].
func (brave) Name() string { return Brave }

// Endpoint implements [Provider].
func (b brave) Endpoint() string { return endpoint(b.search) }

// Search implements [Provider].
func (b brave) Search(ctx context.Context, do Do, query string, limit int) ([]Result, error) {
	var answer struct {
		Web struct {
			Results []struct{ Title, URL, Description string }
		}
	}
	err := fetch(ctx, do, label(Brave, b.Endpoint()), Request{
		URL:    with(b.search, url.Values{"q": {query}, "count": {strconv.Itoa(bounded(limit))}}),
		Method: http.MethodGet,
		Header: map[string]string{"Accept": "application/json", "X-Subscription-Token": b.key},
	}, &answer)
	if err != nil {
		return nil, err
	}
	var found collector
	for _, r := range answer.Web.Results {
		found.add(r.Title, r.URL, r.Description)
	}
	return found.best(limit), nil
}
