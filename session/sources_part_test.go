package session

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"acp-agent/tools"
	"acp-agent/tools/provider"
)

// newTestSources returns the sources of parts, and the registries that they gave the session.
func newTestSources(t *testing.T, p *parts) (s *sources, adopted *[]*tools.Registry) {
	t.Helper()
	adopted = new([]*tools.Registry)
	s = newSources(sourcesOptions{
		opened: p.opened, project: p.project, conversation: p.conversation,
		adopt: func(r *tools.Registry) { *adopted = append(*adopted, r) },
	})
	t.Cleanup(s.close)
	return s, adopted
}

// providing serves a provider with the tools that list gives.
func providing(t *testing.T, list func() string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ ID *int }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		if asked.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":{"tools":%s}}`, *asked.ID, list())
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// R94: the tools of a provider become those of the session once, and not again before they
// change.
func TestSources_AdoptOnce(t *testing.T) {
	url := providing(t, func() string { return `[{"name":"one","description":"Zither."}]` })
	p := newParts(t, Settings{Sources: Sources{Providers: []provider.Config{{Name: "web", Type: "http", URL: url}}}}, nil)
	s, adopted := newTestSources(t, p)
	s.await(t.Context(), false)
	if len(*adopted) != 1 {
		t.Fatalf("adopted %d registries", len(*adopted))
	}
	if _, known := (*adopted)[0].Get("tb__web__one"); !known {
		t.Error("the tool of the provider is not there")
	}
	s.await(t.Context(), false)
	if len(*adopted) != 1 {
		t.Errorf("without a change, adopted %d registries", len(*adopted))
	}
	if notices := p.notices(); len(notices) != 0 {
		t.Errorf("notices: %q", notices)
	}
}

// A source that cannot be reached is named to the user once.
func TestSources_ProblemsOnce(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	p := newParts(t, Settings{Sources: Sources{Providers: []provider.Config{{Name: "gone", Type: "http", URL: server.URL}}}}, nil)
	s, _ := newTestSources(t, p)
	s.await(t.Context(), false)
	s.notifyProblems()
	s.notifyProblems()
	notices := p.notices()
	if len(notices) != 1 || !strings.Contains(notices[0], "gone") {
		t.Errorf("notices: %q", notices)
	}
}

// Only where the first prompt is the only one is it worth to wait before a command that lists
// tools.
func TestSources_AwaitOnly(t *testing.T) {
	for _, only := range []bool{false, true} {
		var asked atomic.Int32
		url := providing(t, func() string { asked.Add(1); return `[]` })
		p := newParts(t, Settings{Sources: Sources{Providers: []provider.Config{{Name: "web", Type: "http", URL: url}}}}, nil)
		p.spec.Waits = only
		s, adopted := newTestSources(t, p)
		s.awaitForOnlyPrompt(t.Context())
		if got := asked.Load() > 0; got != only {
			t.Errorf("only prompt: %t, provider asked: %t", only, got)
		}
		if len(*adopted) > 0 {
			t.Error("it changed the tools of the session")
		}
	}
}

// Of two tools of one name the first stays: those of servers go before those of providers.
func TestSources_Order(t *testing.T) {
	s, _ := newTestSources(t, newParts(t, Settings{}, nil))
	if !slices.Equal(s.all(), []source{s.servers, s.providers}) {
		t.Errorf("the order is %v", s.all())
	}
}
