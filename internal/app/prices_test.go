package app

import (
	"io"
	"math"
	"testing"

	"acp-agent/config"
	"acp-agent/model/preset"
	"acp-agent/transcript"
)

func TestPrice(t *testing.T) {
	deepseek, _ := preset.Find("deepseek")
	used := transcript.Usage{Input: 100_000, CacheRead: 200_000, CacheWrite: 50_000, Output: 10_000, Reasoning: 20_000}
	prices := map[string]config.Price{
		"plain": {Input: 2, Output: 10}, "cached": {Input: 2, Output: 10, CacheRead: 0.5, CacheWrite: 4},
	}
	alone, beside, own := config.Default(), config.Default(), config.Default()
	alone.Model.Prices = prices
	beside.Model.Origin.Server = "model.base_url"
	beside.Providers = map[string]config.Provider{
		"deepseek": {Known: deepseek, BaseURL: deepseek.BaseURL, API: preset.Chat},
		"mine":     {BaseURL: "http://localhost:1/v1", API: preset.Chat, Prices: prices},
	}
	own.Model.BaseURL = "https://models.example/v1"
	const ofDeepSeek = (0.15*1.32 + 0.2*0.044 + 0.03*3.96)
	for _, tt := range []struct {
		cfg  *config.Config
		name string
		want float64
	}{
		{alone, "plain", 0.2 + 0.4 + 0.1 + 0.3},
		{alone, "cached", 0.2 + 0.1 + 0.2 + 0.3},
		{alone, "gpt-4.1", 0.15*2 + 0.2*0.5 + 0.03*8},
		{alone, "unknown", 0},
		{beside, "deepseek/deepseek-v4-pro", ofDeepSeek},
		{beside, "mine/cached", 0.2 + 0.1 + 0.2 + 0.3},
		{beside, "mine/deepseek-v4-pro", 0},
		{beside, "openai/gpt-4.1", 0.15*2 + 0.2*0.5 + 0.03*8},
		{beside, "none/gpt-4.1", 0},
		{own, "gpt-4.1", 0},
	} {
		if got := newCore(io.Discard).price(tt.cfg)(tt.name, used); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s cost %v, want %v", tt.name, got, tt.want)
		}
	}
}
