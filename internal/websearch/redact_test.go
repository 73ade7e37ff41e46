package websearch_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"acp-agent/internal/websearch"
)

// A key comes back in no error and no result, however it is repeated.
func TestProvider_KeyIsNotRepeated(t *testing.T) {
	t.Parallel()
	const key = "canary/+key=1"
	lower := strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(key), "%2F", "%2f"), "%2B", "%2b")
	each := ""
	for _, c := range []byte(key) {
		each += fmt.Sprintf("%%%02X", c)
	}
	wrapped := errors.New("get https://other.example/?key=" + key)
	errs := map[string]error{
		"plain":            wrapped,
		"wrapped":          fmt.Errorf("blocked: %w", wrapped),
		"beneath":          hiding{wrapped},
		"beneath several":  errors.Join(errors.New("one"), hiding{wrapped}),
		"in a query":       errors.New("get https://other.example/?key=" + url.QueryEscape(key)),
		"in a path":        errors.New("get https://other.example/" + url.PathEscape(key)),
		"in lower case":    errors.New("get https://other.example/?key=" + lower),
		"letter by letter": errors.New("get https://other.example/?key=" + each),
	}
	for _, kind := range []string{websearch.Brave, websearch.Tavily} {
		p := provider(t, websearch.Config{Type: kind, Key: key})
		for name, failure := range errs {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				do := func(context.Context, websearch.Request) (*websearch.Response, error) {
					return nil, fmt.Errorf("%w: %w", failure, context.DeadlineExceeded)
				}
				_, err := p.Search(t.Context(), do, "q", 5)
				if err == nil || !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("error %v, want one at the deadline", err)
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					text, _ := url.PathUnescape(e.Error())
					if strings.Contains(text, "canary") || strings.Contains(e.Error(), each) {
						t.Errorf("the key is in %q", e)
					}
				}
			})
		}
		t.Run(kind+"/results", func(t *testing.T) {
			t.Parallel()
			answer := fmt.Sprintf(`{"results":[{"title":%[1]q,"url":"https://a.example/?k=%[2]s","content":%[1]q}]}`, "your key "+key, url.QueryEscape(key))
			if kind == websearch.Brave {
				answer = `{"web":` + strings.ReplaceAll(answer, "content", "description") + `}`
			}
			do := func(context.Context, websearch.Request) (*websearch.Response, error) {
				return &websearch.Response{Status: 200, Body: []byte(answer)}, nil
			}
			results, err := p.Search(t.Context(), do, "q", 5)
			if err != nil || len(results) != 1 || strings.Contains(fmt.Sprint(results), "canary") || !strings.Contains(fmt.Sprint(results), "your key [redacted]") {
				t.Errorf("results %v, %v", results, err)
			}
		})
		t.Run(kind+"/redirect", func(t *testing.T) {
			t.Parallel()
			do := func(context.Context, websearch.Request) (*websearch.Response, error) {
				return &websearch.Response{Status: 200, Redirect: "https://other.example/?key=" + url.QueryEscape(key)}, nil
			}
			_, err := p.Search(t.Context(), do, "q", 5)
			if err == nil || !strings.HasSuffix(err.Error(), ": the search provider redirected to another address, which is not followed") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// hiding is an error that does not say what it was made of.
type hiding struct{ err error }

func (h hiding) Error() string { return "something went wrong" }
func (h hiding) Unwrap() error { return h.err }

// What holds no key is returned as it is, for the caller to look into.
func TestProvider_OtherErrorsAreWhole(t *testing.T) {
	t.Parallel()
	p := provider(t, websearch.Config{Type: websearch.Brave, Key: "canary"})
	do := func(context.Context, websearch.Request) (*websearch.Response, error) {
		return nil, hiding{errors.New("refused")}
	}
	_, err := p.Search(t.Context(), do, "q", 5)
	if !errors.As(err, new(hiding)) {
		t.Errorf("error %#v", err)
	}
}
