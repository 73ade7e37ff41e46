package main

import (
	"testing"

	"acp-agent/transcript"
)

func TestDelegation_Cost(t *testing.T) {
	d := delegation{prices: map[string]price{"plain": {input: 2, output: 10}, "cached": {input: 2, output: 10, cacheRead: 0.5, cacheWrite: 4}}}
	used := transcript.Usage{Input: 100_000, CacheRead: 200_000, CacheWrite: 50_000, Output: 10_000, Reasoning: 20_000}
	for model, want := range map[string]float64{"plain": 0.2 + 0.4 + 0.1 + 0.3, "cached": 0.2 + 0.1 + 0.2 + 0.3, "unknown": 0} {
		if got := d.settings().Price(model, used); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s cost %v, want %v", model, got, want)
		}
	}
	if defaultDelegation().settings().Price != nil {
		t.Error("without prices, nothing is known of prices")
	}
}
