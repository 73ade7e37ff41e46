package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"acp-agent/config"
	"acp-agent/internal/network"
	"acp-agent/internal/redact"
	"acp-agent/internal/websearch"
	"acp-agent/session"
	"acp-agent/tools"
)

// web is the network of the tools: one guarded client for searches and one for all else, because
// the address of a search provider is granted to searches only.
type web struct {
	fetch, search *network.Client
}

// searchWait bounds a request of the search client. It is longer than limits.search_timeout, so
// that the call's own limit ends a search, with an error that names the limit.
func searchWait(limits config.Limits) time.Duration {
	return limits.SearchTimeout.Duration + time.Second
}

func newWeb(cfg *config.Config, providers []websearch.Provider, keys *redact.Values) (*web, error) {
	agent := "acp-agent/" + version
	fetch, err := network.New(network.Options{Grants: cfg.Web.Private, UserAgent: agent, Secret: keys.Hides})
	if err != nil {
		return nil, err
	}
	var endpoints []string
	for _, provider := range providers {
		if endpoint := provider.Endpoint(); endpoint != "" {
			endpoints = append(endpoints, endpoint)
		}
	}
	search, err := network.New(network.Options{
		Grants: endpoints, UserAgent: agent, Timeout: searchWait(cfg.Limits),
	})
	if err != nil {
		return nil, err
	}
	return &web{fetch: fetch, search: search}, nil
}

// forTool is the network of a tool.
func (w *web) forTool(tool string) tools.Net {
	if tool == "web_search" {
		return session.Net{Client: w.search}
	}
	return session.Net{Client: w.fetch}
}

func (w *web) close() {
	w.fetch.Close()
	w.search.Close()
}

// maxSkillPage bounds a SKILL.md from the web.
const maxSkillPage = 100 << 10

// page fetches the text of a configured skill.
func (w *web) page(ctx context.Context, url string) ([]byte, error) {
	answer, err := w.fetch.Do(ctx, network.Request{URL: url, MaxBytes: maxSkillPage})
	switch {
	case err != nil:
		return nil, err
	case answer.Redirect != "":
		return nil, fmt.Errorf("it leads to another host, %s; name that address instead", answer.Redirect)
	case answer.Status != http.StatusOK:
		return nil, fmt.Errorf("the server answered %d", answer.Status)
	}
	return answer.Body, nil
}
