package app

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/model"
)

// loadingProvider is a server that is busy for a while.
type loadingProvider struct {
	model.Provider
	until time.Time
	asked int
}

func (p *loadingProvider) Models(context.Context) ([]model.Info, error) {
	p.asked++
	if time.Now().Before(p.until) {
		return nil, &model.Error{Kind: model.Transient, Busy: true, Message: "Loading model"}
	}
	return []model.Info{{ID: "loaded"}}, nil
}

// TestFirstModel_Loading holds that a session begins while a server that tells its model only
// when it has loaded it does so, and that its user reads why when it takes too long. The
// llama.cpp of Debian answers every question with 503 until then (make llama).
func TestFirstModel_Loading(t *testing.T) {
	for _, tt := range []struct {
		name    string
		loads   time.Duration
		id, err string
		asked   int
	}{
		{"not at all", 0, "loaded", "", 1},
		{"a moment", 3500 * time.Millisecond, "loaded", "", 5},
		{"long", time.Hour, "", "cannot list its models yet: Loading model (try again when it is ready, or set THE_MODEL", 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				provider := &loadingProvider{until: time.Now().Add(tt.loads)}
				id, err := firstModel(provider, "THE_MODEL")
				if id != tt.id || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %q, %v", id, err)
				}
				if provider.asked < tt.asked || provider.asked > tt.asked+1 {
					t.Errorf("asked %d times, want about %d", provider.asked, tt.asked)
				}
			})
		})
	}
}
