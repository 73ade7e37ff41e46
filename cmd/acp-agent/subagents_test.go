package main

import (
	"testing"

	"acp-agent/config"
	"acp-agent/transcript"
)

func TestSubagents_Price(t *testing.T) {
	cfg := config.Default()
	if subagents(cfg).Price != nil {
		t.Error("without prices, nothing is known of prices")
	}
	cfg.Model.Prices = map[string]config.Price{
		"plain": {Input: 2, Output: 10}, "cached": {Input: 2, Output: 10, CacheRead: 0.5, CacheWrite: 4},
	}
	used := transcript.Usage{Input: 100_000, CacheRead: 200_000, CacheWrite: 50_000, Output: 10_000, Reasoning: 20_000}
	for model, want := range map[string]float64{"plain": 0.2 + 0.4 + 0.1 + 0.3, "cached": 0.2 + 0.1 + 0.2 + 0.3, "unknown": 0} {
		if got := subagents(cfg).Price(model, used); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s cost %v, want %v", model, got, want)
		}
	}
}
