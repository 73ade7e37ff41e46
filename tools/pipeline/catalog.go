package pipeline

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"acp-agent/internal/bm25"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Deferral says which tools the model is told of only when it looks for them
// (R87). The zero value defers none.
type Deferral struct {
	// Threshold is how many tools may be active before any is deferred; 0 means
	// that none ever is.
	Threshold int
	// Always are the ids that stand in the catalogue whatever their number.
	Always []string
	// Activated are deferred tools that were made callable before.
	Activated []string
}

// catalogue is the tools that the model is told of. It changes only when the
// next model request is made, so a step that is under way is not affected.
type catalogue struct {
	deferral Deferral

	mu      sync.Mutex
	stance  *Stance        // the one of the last request; nil admits everything
	order   []*tools.Entry // all that are enabled
	listed  []*tools.Entry
	written []model.Tool // the first of listed, in the form of a request
	hidden  map[string]*tools.Entry
	pending []*tools.Entry
	index   *bm25.Index // made by the first search
}

// newCatalogue sorts the enabled tools into those that are listed and those
// that are deferred.
func newCatalogue(enabled []*tools.Entry, o Deferral) *catalogue {
	c := &catalogue{deferral: o}
	c.sort(enabled)
	return c
}

// sort lists or hides each tool. Those that were listed stay so, before the others.
func (c *catalogue) sort(enabled []*tools.Entry) {
	o, before := c.deferral, map[string]int{}
	for i, entry := range c.listed {
		before[entry.ID] = i + 1
	}
	c.order, c.listed, c.hidden, c.index = enabled, nil, map[string]*tools.Entry{}, nil
	defers := o.Threshold > 0 && len(enabled) > o.Threshold
	for _, entry := range enabled {
		if defers && before[entry.ID] == 0 && !slices.Contains(o.Always, entry.ID) && !slices.Contains(o.Activated, entry.ID) {
			c.hidden[entry.ID] = entry
			continue
		}
		c.listed = append(c.listed, entry)
	}
	place := func(entry *tools.Entry) int { return cmp.Or(before[entry.ID], math.MaxInt) }
	slices.SortStableFunc(c.listed, func(a, b *tools.Entry) int { return cmp.Compare(place(a), place(b)) })
}

// replace is for other tools than before. What the model was told of, or found, it is told
// of again if it is still there.
func (c *catalogue) replace(enabled []*tools.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = append(c.listed[:len(c.written):len(c.written)], c.pending...)
	c.pending, c.written = nil, nil
	c.sort(enabled)
}

// request returns the tools for the next model request, which is made in the
// given stance. Those that were found since the last one stand at the end, so
// that what came before is unchanged for the server's cache.
func (c *catalogue) request(stance *Stance) []model.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stance = stance
	for _, entry := range c.pending {
		delete(c.hidden, entry.ID)
		c.listed = append(c.listed, entry)
	}
	c.pending = nil
	for _, entry := range c.listed[len(c.written):] {
		c.written = append(c.written, forModel(entry))
	}
	if stance == nil {
		return slices.Clip(c.written)
	}
	var offered []model.Tool
	for i, entry := range c.listed {
		if stance.refuse(entry) == "" {
			offered = append(offered, c.written[i])
		}
	}
	for _, entry := range c.order {
		if c.hidden[entry.ID] != nil && stance.lists(entry) {
			offered = append(offered, forModel(entry))
		}
	}
	return offered
}

// maxBrief bounds the description of an MCP tool in a request, in characters; tool_search
// gives the whole of it (R90).
const maxBrief = 200

// forModel is a tool in the form of a request.
func forModel(entry *tools.Entry) model.Tool {
	description := entry.Description
	if entry.Source.Kind == tools.MCP {
		description = kinds.Line(description, maxBrief)
	}
	return model.Tool{Name: entry.ID, Description: description, Parameters: entry.Schema()}
}

// in returns the stance of the last request.
func (c *catalogue) in() *Stance {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stance
}

// deferring reports whether any tool waits to be found.
func (c *catalogue) deferring() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, entry := range c.hidden {
		if c.waits(entry) {
			return true
		}
	}
	return false
}

// deferred reports whether a tool is there but not callable yet.
func (c *catalogue) deferred(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits(c.hidden[id])
}

// waits reports whether a tool has to be looked for, and may be found.
func (c *catalogue) waits(entry *tools.Entry) bool {
	return entry != nil && c.stance.refuse(entry) == "" && !c.stance.lists(entry)
}

// search finds deferred tools and makes them callable from the next request on.
func (c *catalogue) search(query string, limit int) []tools.ToolMatch {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index == nil {
		c.index = indexOf(c.hidden)
	}
	var matches []tools.ToolMatch
	best := 0.0
	for _, hit := range c.index.Search(query, limit) {
		entry := c.hidden[hit.ID]
		if !c.waits(entry) {
			continue // found before, and listed by now; or not for this mode
		}
		if best = max(best, hit.Score); hit.Score < best*scoreFloor {
			break // it shares a word that says little, and would only fill the request
		}
		if !slices.Contains(c.pending, entry) {
			c.pending = append(c.pending, entry)
		}
		matches = append(matches, tools.ToolMatch{ID: entry.ID, Description: entry.Description})
	}
	return matches
}

// scoreFloor is the part of the score of the best deferred hit that others must have.
const scoreFloor = 0.35

func indexOf(hidden map[string]*tools.Entry) *bm25.Index {
	docs := make([]bm25.Document, 0, len(hidden))
	for id, entry := range hidden {
		text := id + " " + entry.Description
		for _, alias := range entry.Aliases {
			text += " " + alias.Name
		}
		docs = append(docs, bm25.Document{ID: id, Text: text})
	}
	return bm25.New(docs)
}

// toolIndex is the catalogue as one call may search it.
type toolIndex struct {
	*catalogue
	sink transcript.Sink
}

// Search implements tools.ToolIndex.
func (i toolIndex) Search(query string, limit int) []tools.ToolMatch {
	matches := i.search(query, limit)
	if len(matches) > 0 {
		ids := make([]string, len(matches))
		for n, match := range matches {
			ids[n] = match.ID
		}
		i.sink.Emit(transcript.ToolsActivated{IDs: ids})
	}
	return matches
}
