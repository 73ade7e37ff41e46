package app

import (
	"testing"
	"time"

	"acp-agent/config"
)

// The client of searches never ends one before limits.search_timeout does, be
// it longer or shorter than what pages have (R80).
func TestSearchWait(t *testing.T) {
	t.Parallel()
	for _, limit := range []time.Duration{time.Second, 15 * time.Second, time.Minute} {
		wait := searchWait(config.Limits{SearchTimeout: config.Duration{Duration: limit}})
		if wait <= limit || wait > limit+5*time.Second {
			t.Errorf("with a limit of %s the client waits %s", limit, wait)
		}
	}
}
