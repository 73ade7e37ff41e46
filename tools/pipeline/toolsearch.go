package pipeline

import (
	"slices"

	"acp-agent/internal/bm25"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// scoreFloor is the lowest score of a hit, as a fraction of the best score.
const scoreFloor = 0.35

// toolIndex lets one call search the catalogue. It emits which tools the next request lists.
type toolIndex struct {
	*catalogue
	sink transcript.Sink
}

// Search implements tools.ToolIndex.
func (i toolIndex) Search(query string, limit int) []tools.ToolMatch {
	matches := i.search(query, limit)
	if ids := i.activated(); len(ids) > 0 {
		i.sink.Emit(transcript.ToolsActivated{IDs: ids})
	}
	return matches
}

// deferring reports whether a search could find any tool.
func (c *catalogue) deferring() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classify()
	for _, entry := range c.hidden {
		if c.searchable(entry) {
			return true
		}
	}
	return false
}

// searchable reports whether a deferred tool may be found in this mode.
func (c *catalogue) searchable(entry *tools.Entry) bool {
	return entry != nil && c.policy.refuse(entry) == "" && !c.policy.lists(entry)
}

// search finds deferred tools. For a server that takes only calls of listed tools, the next request
// lists them.
func (c *catalogue) search(query string, limit int) []tools.ToolMatch {
	c.refreshAndLock()
	defer c.mu.Unlock()
	c.classify()
	if c.index == nil {
		c.index = indexOf(c.hidden)
	}
	var matches []tools.ToolMatch
	best := 0.0
	for _, hit := range c.index.Search(query, limit) {
		entry := c.hidden[hit.ID]
		if !c.searchable(entry) {
			continue // listed meanwhile, or not in this mode
		}
		if best = max(best, hit.Score); hit.Score < best*scoreFloor {
			break // it shares only a common word
		}
		c.noteFound(entry)
		matches = append(matches, tools.ToolMatch{ID: entry.ID, Description: entry.Description, Parameters: entry.Schema()})
	}
	return matches
}

// noteFound records that the model has seen the arguments of a tool. The next request to a server that
// takes only calls of listed tools lists it; the current server may be another one. The caller
// holds mu.
func (c *catalogue) noteFound(entry *tools.Entry) {
	if !slices.Contains(c.found, entry.ID) {
		c.found = append(c.found, entry.ID)
	}
}

// foundUnlisted returns the tools that the model has found and that are not listed yet. The caller holds mu.
func (c *catalogue) foundUnlisted() (list []*tools.Entry) {
	for _, id := range c.found {
		if now := c.hidden[id]; now != nil && !slices.Contains(list, now) {
			list = append(list, now)
		}
	}
	return list
}

// indexOf returns the index of the names, aliases and descriptions of tools.
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

// restore sets the tools that the model found in an earlier process.
func (c *catalogue) restore(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = slices.Clone(ids)
}

// activated returns the ids of the tools that the next request lists in addition.
func (c *catalogue) activated() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.listedOnly {
		return nil
	}
	for _, entry := range c.foundUnlisted() {
		ids = append(ids, entry.ID)
	}
	return ids
}
