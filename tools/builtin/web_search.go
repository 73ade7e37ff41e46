package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/internal/network"
	"acp-agent/internal/websearch"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed web_search.md
var webSearchPrompt string

const (
	// defaultResults is how many results are asked for; [websearch.MaxResults]
	// bounds what can be.
	defaultResults = 10
	// maxQuery bounds a query, in bytes.
	maxQuery = 1000
	// searchCount names the searches of a session in its memory.
	searchCount = "web_search"
)

// errSearchTimeout is the cause of a context that ended at Limits.SearchTimeout.
var errSearchTimeout = errors.New("search time limit reached")

type webSearchArgs struct {
	Query      string   `json:"query"`
	MaxResults *float64 `json:"max_results"`
}

// webSearchData is what was found (R79).
type webSearchData struct {
	Results []websearch.Result `json:"results"`
}

// newWebSearch is the tool that searches the web (R79-R81) with one of the
// providers, the same one all through a session. Limits.SearchCalls bounds the
// searches of a session, Limits.SearchTimeout each of them.
func newWebSearch(providers []websearch.Provider) tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "web_search",
		Description: prompt(webSearchPrompt),
		Kind:        kinds.Fetch,
		Label:       "Search the web",
		Describe:    argumentTitle("Search the web for", "query"),
		Default:     capability.AllowAlways,
		Parameters: object(
			text("query", "What to search for."),
			argument{"max_results?", &jsonschema.Schema{
				Type: "integer", Description: fmt.Sprintf("Default %d, at most %d.", defaultResults, websearch.MaxResults),
			}},
		),
		Requires: capability.RequirementSet{Net: capability.Net{Hosts: providerHosts(providers)}},
		Aliases:  []tools.Alias{{Name: "WebSearch"}},
		Lacks: func(tools.Services) string {
			if len(providers) == 0 {
				return "no search provider is configured: set search.providers"
			}
			return ""
		},
		Accepts:  webSearchAccepts(),
		Profile:  &tools.Profile{},
		ReadOnly: true,
	}, func(ctx context.Context, rt tools.Runtime, a webSearchArgs) (*tools.Result, error) {
		return webSearch(ctx, rt, providers, a)
	})
}

// providerHosts are the hosts that searches reach, and no others (R3).
func providerHosts(providers []websearch.Provider) []string {
	var hosts []string
	for _, p := range providers {
		if u, err := url.Parse("//" + p.Endpoint()); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

func webSearch(ctx context.Context, rt tools.Runtime, providers []websearch.Provider, a webSearchArgs) (*tools.Result, error) {
	query, most := strings.TrimSpace(a.Query), defaultResults
	if query == "" || len(query) > maxQuery {
		return nil, tools.Errorf(tools.BadInput, "web_search: query must have 1 to %d bytes", maxQuery)
	}
	if a.MaxResults != nil {
		if *a.MaxResults < 1 {
			return nil, tools.Errorf(tools.BadInput, "web_search: max_results must be at least 1, not %v", *a.MaxResults)
		}
		most = int(min(*a.MaxResults, websearch.MaxResults))
	}
	if len(providers) == 0 {
		return nil, &tools.Error{
			Kind: tools.Unavailable, Message: "web_search is unavailable: no search provider is configured.",
			Detail: "The user can set search.providers in the configuration.", Hint: "Go on without a search.",
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	memory, limits := rt.Services().Memory, rt.Session().Limits
	if _, ok := memory.Count(searchCount, limits.SearchCalls); !ok {
		return nil, &tools.Error{
			Kind: tools.Unavailable, Message: fmt.Sprintf("web_search: the limit of %d searches in a session is reached.", limits.SearchCalls),
			Detail: "The user can raise limits.search_calls in the configuration.", Hint: "Work with what was found.",
		}
	}
	results, err := searchWith(ctx, rt, providerOf(providers, rt.Session().ID), query, most)
	if err != nil {
		return nil, err
	}
	memory.NameHosts(hostsOf(results)...)
	return &tools.Result{Data: webSearchData{results}, Text: searchText(query, results), Content: searchCard(results)}, nil
}

// providerOf picks a provider by the session's id, so that a session has the
// same one from its first search to its last (R81).
func providerOf(providers []websearch.Provider, session string) websearch.Provider {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(session)) // it never fails
	return providers[hash.Sum64()%uint64(len(providers))]
}

func searchWith(ctx context.Context, rt tools.Runtime, p websearch.Provider, query string, most int) ([]websearch.Result, error) {
	limit := rt.Session().Limits.SearchTimeout
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		limited, cancel = context.WithTimeoutCause(ctx, limit, errSearchTimeout)
	}
	defer cancel()
	results, err := p.Search(limited, throughNet(rt.Net()), query, most)
	switch {
	case err == nil:
		return results, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(context.Cause(limited), errSearchTimeout):
		return nil, &tools.Error{
			Kind: tools.Timeout, Message: fmt.Sprintf("web_search timed out after %v seconds", limit.Seconds()), Err: err,
		}
	}
	return nil, providerFailure(err)
}

// providerFailure gives a provider's error the shape that a model reads.
func providerFailure(err error) error {
	if known, ok := errors.AsType[*tools.Error](err); ok {
		return known
	}
	failure := &tools.Error{Kind: tools.Backend, Message: "web_search: " + err.Error(), Err: err}
	switch {
	case errors.Is(err, websearch.ErrAuth):
		failure.Kind, failure.Detail, failure.Hint = tools.Unavailable, "The user has to correct search.providers in the configuration.", "Go on without a search."
	case errors.Is(err, websearch.ErrRateLimited):
		failure.Hint = "Wait before the next search, or go on without one."
	}
	return failure
}

// throughNet makes requests of a provider requests of the call, where they pass
// its network rules.
func throughNet(net tools.Net) websearch.Do {
	return func(ctx context.Context, r websearch.Request) (*websearch.Response, error) {
		response, err := net.Do(ctx, tools.Request{URL: r.URL, Method: r.Method, Header: r.Header, Body: r.Body})
		if err != nil {
			return nil, err
		}
		return &websearch.Response{
			Status: response.Status, Body: response.Body, Cut: response.Cut, Redirect: response.Redirect,
		}, nil
	}
}

// hostsOf are the hosts of results in the form in which hosts are compared. What
// is not an address of the web has none, and neither has a pattern of hosts.
func hostsOf(results []websearch.Result) []string {
	var hosts []string
	for _, r := range results {
		if target, err := network.Parse(r.URL); err == nil && !strings.Contains(target.Host, "*") {
			hosts = append(hosts, target.Host)
		}
	}
	return hosts
}
