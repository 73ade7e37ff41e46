package pipeline

import (
	"encoding/json"
	"slices"
	"sync"

	"acp-agent/internal/bm25"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Deferral says which tools stand in the requests. The others are deferred: the model is
// told their names, finds them with tool_search, and calls them by name (R87). The zero
// value defers none.
type Deferral struct {
	// Threshold is how many tools there may be beside those of Always before the agent's
	// own are deferred; 0 means that nothing ever is.
	Threshold int
	// Size is how many bytes of the requests the tools from elsewhere may take together,
	// and how many the agent's own that are not among Always, before they are deferred; 0
	// means that the number of them decides alone.
	Size int
	// Always are the ids that are never deferred.
	Always []string
	// Activated are deferred tools that were listed before.
	Activated []string
}

// catalogue is the tools that the model is told of. The list is made for the first request
// and stays as it is, byte for byte, so that what servers keep of a conversation holds
// (R138); what changes later is said in the conversation, see announce.
type catalogue struct {
	deferral Deferral
	// lacks says why a tool could only fail; "" when it can be used.
	lacks func(*tools.Entry) string
	// listedOnly is Session.ListedOnly.
	listedOnly func() bool

	mu         sync.Mutex
	policy     *ModePolicy    // the one of the last request; nil admits everything
	enabled    []*tools.Entry // all that are on
	classified bool           // whether order, digests, hidden and index are up to date
	order      []*tools.Entry // those of enabled that can be used
	digests    map[string]string
	hidden     map[string]*tools.Entry
	index      *bm25.Index // made by the first search
	only       bool        // the last answer of listedOnly

	listed    []*tools.Entry // as they were when they were listed
	written   []model.Tool   // listed in the form of a request; nil before the first request
	found     []string       // ids of hidden ones that the model was shown with their arguments
	announced announcements
}

func newCatalogue(enabled []*tools.Entry, o Deferral, lacks func(*tools.Entry) string, listedOnly func() bool) *catalogue {
	return &catalogue{deferral: o, enabled: enabled, lacks: lacks, listedOnly: listedOnly}
}

// replaceTools replaces the tools that are on.
func (c *catalogue) replaceTools(enabled []*tools.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enabled, c.classified = enabled, false
}

// invalidate has the tools classified again: some that lacked something may be usable now.
func (c *catalogue) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classified = false
}

// classify finds out which tools can be used, and which of those are listed or hidden. It runs
// when the answer is first needed, because it encodes the schemas. The caller holds mu.
func (c *catalogue) classify() {
	if c.classified {
		return
	}
	c.classified, c.order, c.index = true, nil, nil
	c.digests, c.hidden = map[string]string{}, map[string]*tools.Entry{}
	for _, entry := range c.enabled {
		if c.lacks(entry) == "" {
			c.order = append(c.order, entry)
			c.digests[entry.ID] = digestOf(entry)
			c.hidden[entry.ID] = entry
		}
	}
	if c.written == nil {
		c.listed = c.deferral.listed(c.order)
	}
	for _, entry := range c.listed {
		delete(c.hidden, entry.ID)
	}
}

// listed returns the tools that the requests list.
func (d Deferral) listed(all []*tools.Entry) (listed []*tools.Entry) {
	further, own, elsewhere := 0, 0, 0
	for _, entry := range all {
		switch {
		case d.always(entry.ID):
		case entry.Foreign():
			further, elsewhere = further+1, elsewhere+sizeOf(entry)
		default:
			further, own = further+1, own+sizeOf(entry)
		}
	}
	many := further > d.Threshold
	hidesOwn, hidesElsewhere := many, many
	if d.Size > 0 {
		hidesOwn, hidesElsewhere = many || own > d.Size, elsewhere > d.Size
	}
	for _, entry := range all {
		hides := hidesOwn
		if entry.Foreign() {
			hides = hidesElsewhere
		}
		if d.Threshold == 0 || !hides || d.always(entry.ID) {
			listed = append(listed, entry)
		}
	}
	return listed
}

func (d Deferral) always(id string) bool {
	return slices.Contains(d.Always, id) || slices.Contains(d.Activated, id)
}

// refreshAndLock asks whether only listed tools can be called, then locks mu. The question is
// asked without the lock because the session answers it.
func (c *catalogue) refreshAndLock() {
	only := c.listedOnly()
	c.mu.Lock()
	c.only = only
}

// searchTool is the tool whose description names the deferred tools.
const searchTool = "tool_search"

// freeze makes the list of the requests, once; the caller holds mu.
func (c *catalogue) freeze(policy *ModePolicy) {
	if c.classify(); c.written != nil {
		return
	}
	c.written = []model.Tool{}
	names, searchable := c.nameDeferred(c.named(policy)), false
	for _, entry := range c.listed {
		tool := forModel(entry)
		if entry.ID == searchTool && names != "" {
			tool.Description += "\n" + names
			searchable = true
		}
		c.written = append(c.written, tool)
	}
	c.announced.initial = c.state(c.listed)
	if searchable {
		c.announced.initial = c.state(c.order)
	}
	if c.only {
		c.announced.initial[onlyMark] = onlyMark
	}
}

// named returns the deferred tools whose names the model is told, except tools that belong
// to another mode.
func (c *catalogue) named(policy *ModePolicy) (list []*tools.Entry) {
	for _, entry := range c.order {
		if c.hidden[entry.ID] != nil && !policy.lists(entry) && (policy.refuse(entry) == "" || policy.ReadOnly) {
			list = append(list, entry)
		}
	}
	return list
}

// request returns the tools for the next model request, which is made under the given policy.
// Only a mode makes the list another one, and where the server takes calls of listed tools
// alone, what was found since.
func (c *catalogue) request(policy *ModePolicy) []model.Tool {
	c.refreshAndLock()
	defer c.mu.Unlock()
	c.freeze(policy)
	c.policy = policy
	if c.only {
		for _, entry := range c.unlisted() {
			delete(c.hidden, entry.ID)
			c.listed, c.written = append(c.listed, entry), append(c.written, forModel(entry))
		}
		c.found = nil
	}
	return c.offered(policy)
}

// preview returns what request would return, and changes nothing.
func (c *catalogue) preview(policy *ModePolicy) []model.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.classify(); c.written != nil {
		return c.offered(policy)
	}
	copied := catalogue{order: c.order, hidden: c.hidden, listed: c.listed}
	for _, entry := range c.listed {
		copied.written = append(copied.written, forModel(entry))
	}
	return copied.offered(policy)
}

// offered returns the tools of a request under a policy; the caller holds mu.
func (c *catalogue) offered(policy *ModePolicy) []model.Tool {
	if policy == nil {
		return slices.Clip(c.written)
	}
	var offered []model.Tool
	for i, entry := range c.listed {
		if policy.refuse(entry) == "" {
			offered = append(offered, c.written[i])
		}
	}
	for _, entry := range c.order {
		if c.hidden[entry.ID] != nil && policy.lists(entry) {
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

// sizeOf is how many bytes of a request a tool takes.
func sizeOf(entry *tools.Entry) int {
	const frame = `{"type":"function","function":{"name":"","description":,"parameters":}},`
	tool := forModel(entry)
	description, err := json.Marshal(tool.Description)
	if err != nil {
		description = []byte(tool.Description)
	}
	return len(frame) + len(tool.Name) + len(description) + len(tool.Parameters)
}

// digestOf returns a digest of what the model is told of a tool.
func digestOf(entry *tools.Entry) string {
	return tools.DigestOf(entry.Description, string(entry.Schema()))
}

// lastPolicy returns the policy of the last request.
func (c *catalogue) lastPolicy() *ModePolicy {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.policy
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

// deferred reports whether a tool is there but not listed.
func (c *catalogue) deferred(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classify()
	return c.searchable(c.hidden[id])
}

// shows reports whether the requests describe a tool as it is.
func (c *catalogue) shows(entry *tools.Entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classify()
	for _, listed := range c.listed {
		if listed.ID == entry.ID {
			return listed == entry || digestOf(listed) == digestOf(entry)
		}
	}
	return c.policy.lists(entry)
}

// searchable reports whether a deferred tool may be found in this mode.
func (c *catalogue) searchable(entry *tools.Entry) bool {
	return entry != nil && c.policy.refuse(entry) == "" && !c.policy.lists(entry)
}

// search finds deferred tools. Where only listed ones can be called, they are listed from
// the next request on.
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
			continue // listed by now, or not for this mode
		}
		if best = max(best, hit.Score); hit.Score < best*scoreFloor {
			break // it shares a word that says little
		}
		c.noteFound(entry)
		matches = append(matches, tools.ToolMatch{ID: entry.ID, Description: entry.Description, Parameters: entry.Schema()})
	}
	return matches
}

// noteFound notes that the model was shown a tool with its arguments. The next request to a
// server that takes calls of listed tools alone has it: that may be another server than now.
// The caller holds mu.
func (c *catalogue) noteFound(entry *tools.Entry) {
	if !slices.Contains(c.found, entry.ID) {
		c.found = append(c.found, entry.ID)
	}
}

// unlisted returns the tools that were found and are not listed yet: the next request lists them
// where only listed tools can be called. The caller holds mu.
func (c *catalogue) unlisted() (list []*tools.Entry) {
	for _, id := range c.found {
		if now := c.hidden[id]; now != nil && !slices.Contains(list, now) {
			list = append(list, now)
		}
	}
	return list
}

// scoreFloor is the least score of a hit, as a part of the best hit's.
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
	if ids := i.activated(); len(ids) > 0 {
		i.sink.Emit(transcript.ToolsActivated{IDs: ids})
	}
	return matches
}

// restore notes the tools that the model found in an earlier process.
func (c *catalogue) restore(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = slices.Clone(ids)
}

// activated returns the ids of the tools that the next request lists in addition.
func (c *catalogue) activated() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.only {
		return nil
	}
	for _, entry := range c.unlisted() {
		ids = append(ids, entry.ID)
	}
	return ids
}
