package websearch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"acp-agent/internal/pause"
)

// scripted answers from a file, for tests and demonstrations: a JSON object of
// queries, "*" standing for any other. No query is sent anywhere.
type scripted struct{ answers map[string]scriptedAnswer }

// scriptedAnswer is what one query gives.
type scriptedAnswer struct {
	Results []Result `json:"results"`
	// Delay is how long it takes, such as "20s".
	Delay string `json:"delay"`
	// Error makes the search fail with this text.
	Error string `json:"error"`

	delay time.Duration
}

func newScripted(c Config) (Provider, error) {
	if c.URL != "" || c.Key != "" {
		return nil, fmt.Errorf("search provider %s: has a file, no url and no key", c.Type)
	}
	raw, err := os.ReadFile(c.File)
	if err != nil {
		return nil, fmt.Errorf("search provider %s: %w", c.Type, err)
	}
	var s scripted
	if err := json.Unmarshal(raw, &s.answers); err != nil {
		return nil, fmt.Errorf("search provider %s: %q: %w", c.Type, c.File, err)
	}
	for query, answer := range s.answers {
		if answer.Delay != "" {
			if answer.delay, err = time.ParseDuration(answer.Delay); err != nil {
				return nil, fmt.Errorf("search provider %s: %q: delay of %q: %w", c.Type, c.File, query, err)
			}
			s.answers[query] = answer
		}
	}
	return s, nil
}

// Name implements [Provider].
func (scripted) Name() string { return Scripted }

// Endpoint implements [Provider]: there is none.
func (scripted) Endpoint() string { return "" }

// Search implements [Provider].
func (s scripted) Search(ctx context.Context, _ Do, query string, limit int) ([]Result, error) {
	answer, known := s.answers[query]
	if !known {
		answer = s.answers["*"]
	}
	if answer.delay > 0 {
		if err := pause.For(ctx, answer.delay); err != nil {
			return nil, err
		}
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("%s: %s", Scripted, answer.Error)
	}
	var found collector
	for _, r := range answer.Results {
		found.add(r.Title, r.URL, r.Snippet)
	}
	return found.best(limit), nil
}
