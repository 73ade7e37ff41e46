package websearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Provider is one search service.
type Provider interface {
	// Name is the provider's type, such as "searxng".
	Name() string
	// Endpoint is the host and port of all requests, "" when there are none. It
	// is what the network has to be opened for.
	Endpoint() string
	// Search returns at most limit results, the best first; limit is held
	// between 1 and [MaxResults]. No result is an empty list.
	Search(ctx context.Context, do Do, query string, limit int) ([]Result, error)
}

// Result is one page that was found (R79).
type Result struct {
	Title string `json:"title"`
	// URL is http or https.
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// Do makes one request. It decodes compressed bodies and bounds them.
type Do func(ctx context.Context, r Request) (*Response, error)

// Request is one request to a provider.
type Request struct {
	URL string
	// Method is GET or POST.
	Method string
	Header map[string]string
	Body   []byte
}

// Response is what a provider answered.
type Response struct {
	Status int
	Body   []byte
	// Cut says that the body was longer.
	Cut bool
	// Redirect is where the answer leads when that was not followed.
	Redirect string
}

// The errors that a caller can do something about.
var (
	// ErrAuth means that the provider refuses the key, or any request.
	ErrAuth = errors.New("authentication failed")
	// ErrRateLimited means that the provider wants fewer requests.
	ErrRateLimited = errors.New("rate limited")
)

// fetch makes a request and decodes the JSON of its answer into v. What an
// error body says is not repeated: it is of no use to a model, and may name the
// key.
func fetch(ctx context.Context, do Do, name string, r Request, v any) error {
	response, err := do(ctx, r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	status := response.Status
	switch {
	case response.Redirect != "" || status >= 300 && status < 400:
		// Where it leads may repeat the request, with the key.
		return fmt.Errorf("%s: the search provider redirected to another address, which is not followed", name)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("%s: %w (status %d)", name, ErrAuth, status)
	case status == http.StatusTooManyRequests:
		return fmt.Errorf("%s: %w (status %d)", name, ErrRateLimited, status)
	case status < 200 || status > 299:
		return fmt.Errorf("%s: answered with status %d", name, status)
	case response.Cut:
		return fmt.Errorf("%s: the answer is too large", name)
	}
	if err := json.Unmarshal(response.Body, v); err != nil {
		return fmt.Errorf("%s: the answer is not the JSON that was expected", name)
	}
	return nil
}

// label names a provider in errors: its type and where it is.
func label(name, endpoint string) string { return strings.TrimSpace(name + " at " + endpoint) }
