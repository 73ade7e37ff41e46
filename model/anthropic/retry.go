package anthropic

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// leastOutput is the smallest max_tokens that is worth another try.
const leastOutput = 1_024

// relief is what one request goes without, after it was refused.
type relief struct {
	room     int  // tokens that this prompt leaves for max_tokens; 0 means enough
	thinking bool // goes without a budget for thinking, which the last answer does not fit
}

// learnRefusal notes what a server refused a request for, if the request can do without it, and
// reports whether it is worth another try. The warning, if it has a title, is for the user.
func (p *Provider) learnRefusal(req *model.Request, sent []wire.Param, limit int, without *relief, err error) (warning model.Chunk, again bool) {
	var e *model.Error
	var d *wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.Interrupted || e.Status != 400 && e.Status != 422 {
		return model.Chunk{}, false
	}
	if !without.thinking && d.Contains("expected `thinking`") {
		without.thinking = true
		return model.Chunk{}, true
	}
	if p.fewerTokens(req, limit, without, d) || p.staleThinking(req, d) || p.dropRefused(req.Model, sent, d) {
		return model.Chunk{}, true
	}
	if d.RefusesImages() && wire.HasImages(req.Messages) && p.info(req.Model).Images != model.No {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.blind[req.Model] = true
		return wire.NoImagesWarning(req.Model, e.Message), true
	}
	return model.Chunk{}, false
}

var (
	// "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease
	// input length or `max_tokens` and try again" (github.com/docker/docker-agent/issues/569).
	inputAndLimit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+) \+ (\d+) > (\d+)`) })
	number        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })
)

// fewerTokens lowers max_tokens to what the server says that it takes: for the model
// ("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for …"),
// which is remembered, or for the room that this prompt leaves.
func (p *Provider) fewerTokens(req *model.Request, limit int, without *relief, d *wire.Detail) bool {
	if !d.Names("max_tokens") {
		return false
	}
	lower, room := 0, false
	if m := inputAndLimit().FindStringSubmatch(d.Message); m != nil {
		input, _ := strconv.Atoi(m[1])
		window, _ := strconv.Atoi(m[3])
		lower, room = window-input-100, true
	} else {
		for _, text := range number().FindAllString(d.Message, -1) {
			if n, err := strconv.Atoi(text); err == nil && n < limit {
				lower = max(lower, n)
			}
		}
	}
	if lower < leastOutput || lower >= limit {
		return false
	}
	if room {
		without.room = lower
		return true
	}
	p.opts.Logger.Debug("model server bounds max_tokens", "model", req.Model, "limit", lower)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits[req.Model] = lower
	return true
}

// staleThinking notes that the server does not take the signatures of this conversation
// ("messages.1.content.0: Invalid `signature` in `thinking` block"; "`thinking` or
// `redacted_thinking` blocks in the latest assistant message cannot be modified"): its
// blocks hold for the account and the model that made them. They are left out from then on.
func (p *Provider) staleThinking(req *model.Request, d *wire.Detail) bool {
	if !d.Contains("thinking") || !d.Contains("signature", "cannot be modified") {
		return false
	}
	known := p.replayer(req, true)
	stale := maps.Clone(known.stale)
	if stale == nil {
		stale = map[*transcript.Message]bool{}
	}
	found := false
	for _, m := range req.Messages {
		if m.Role == transcript.Assistant && m.Origin == known.origin && !stale[m] {
			stale[m], found = true, true
		}
	}
	if !found || req.Memo == nil {
		return false
	}
	p.opts.Logger.Debug("model server refused signatures of thinking", "model", req.Model)
	req.Memo.Value = &memo{stale: stale}
	return true
}

// wishes are the parameters that are left away once a server complains of them (R66), and
// how else it names them.
var wishes = []struct{ name, other string }{
	{"output_config", "effort"},
	{"thinking", "adaptive"},
	{"temperature", "temperature"},
	{"cache_control", "cache_control"},
}

// dropRefused notes the parameter that the server complains of, if there is one among those
// sent. Marks of cached prefixes are always sent until then.
func (p *Provider) dropRefused(id string, sent []wire.Param, d *wire.Detail) bool {
	for _, wish := range wishes {
		isSent := slices.ContainsFunc(sent, func(one wire.Param) bool { return one.Name == wish.name }) ||
			wish.name == "cache_control" && p.marks(id)
		if !isSent || !d.Names(wish.name) && !d.Names(wish.other) {
			continue
		}
		p.opts.Logger.Debug("model server refused a parameter", "model", id, "parameter", wish.name)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dropped[refused{id, wish.name}] = true
		return true
	}
	return false
}
