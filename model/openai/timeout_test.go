package openai

import (
	"testing"
	"time"

	"acp-agent/model"
	"acp-agent/model/wire"
)

func TestStartTimeout(t *testing.T) {
	tests := []struct {
		name string
		opts Options
		id   string
		want time.Duration
	}{
		{"remote", Options{}, "gpt-4o", wire.StartTimeout},
		{"remote, configured", Options{IdleTimeout: time.Second}, "gpt-4o", time.Second},
		{"reasons out of sight", Options{}, "o3", wire.SlowTimeout},
		{"local", Options{BaseURL: "http://localhost:1/v1"}, "m", wire.SlowTimeout},
		{"local, configured", Options{BaseURL: "http://localhost:1/v1", StartTimeout: time.Second}, "m", time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := New(tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.server.StartLimit(p.Reasons(tt.id) == model.Yes); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
