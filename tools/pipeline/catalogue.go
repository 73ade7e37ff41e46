package pipeline

import (
	"encoding/json"
	"slices"
	"sync"

	"acp-agent/internal/bm25"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools"
)

// Deferral says which tools the requests describe. The others are deferred: the model knows their
// names, finds them with tool_search, and calls them by name (R87). The zero value defers none.
type Deferral struct {
	// Threshold is how many tools there may be in addition to Always before the agent's own are
	// deferred, and without Size the others as well; 0 never defers any.
	Threshold int
	// Size is how many bytes of a request the tools from elsewhere may take before they are
	// deferred, and the same for the agent's own tools that are not in Always. 0 means that only
	// Threshold counts.
	Size int
	// Always are the ids that are never deferred.
	Always []string
	// Activated are the ids of deferred tools that an earlier request listed; they stay listed.
	Activated []string
}

// catalogue holds the tools that the model knows. The first request fixes the list, byte for byte, so
// that the servers' prompt caches hold (R138); later changes are announced in the conversation, see
// announce.
type catalogue struct {
	deferral Deferral
	// lacks returns why a tool could only fail; "" when it is usable.
	lacks func(*tools.Entry) string
	// askListedOnly is Session.ListedOnly, listedOnly its last answer.
	askListedOnly func() bool

	mu         sync.Mutex
	policy     *ModePolicy             // of the last request; nil admits everything
	enabled    []*tools.Entry          // all tools that are not switched off
	classified bool                    // whether usable, digests, hidden and index are up to date
	usable     []*tools.Entry          // the enabled tools that lack nothing
	digests    map[string]string       // of the usable tools, by id
	hidden     map[string]*tools.Entry // the usable tools that are not listed
	index      *bm25.Index             // of hidden; made by the first search
	listedOnly bool

	listed    []*tools.Entry // the tools of the requests, in the version that was listed
	encoded   []model.Tool   // listed in the form of a request; nil before the first request
	found     []string       // ids of hidden tools whose arguments the model has seen
	announced announcements
}

func newCatalogue(enabled []*tools.Entry, o Deferral, lacks func(*tools.Entry) string, askListedOnly func() bool) *catalogue {
	return &catalogue{deferral: o, enabled: enabled, lacks: lacks, askListedOnly: askListedOnly}
}

// replaceTools replaces the enabled tools.
func (c *catalogue) replaceTools(enabled []*tools.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enabled, c.classified = enabled, false
}

// invalidate makes the next use classify the tools again, when one that lacked something may be usable.
func (c *catalogue) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classified = false
}

// classify finds out which tools are usable, and which of those are listed or hidden. It runs only when
// that is needed, because it encodes the schemas. The caller holds mu.
func (c *catalogue) classify() {
	if c.classified {
		return
	}
	c.classified, c.usable, c.index = true, nil, nil
	c.digests, c.hidden = map[string]string{}, map[string]*tools.Entry{}
	for _, entry := range c.enabled {
		if c.lacks(entry) == "" {
			c.usable = append(c.usable, entry)
			c.digests[entry.ID] = digestOf(entry)
			c.hidden[entry.ID] = entry
		}
	}
	if c.encoded == nil {
		c.listed = c.deferral.selectListed(c.usable)
	}
	for _, entry := range c.listed {
		delete(c.hidden, entry.ID)
	}
}

// selectListed returns the tools that the requests list.
func (d Deferral) selectListed(all []*tools.Entry) (listed []*tools.Entry) {
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

// always reports whether a tool is listed in any case.
func (d Deferral) always(id string) bool {
	return slices.Contains(d.Always, id) || slices.Contains(d.Activated, id)
}

// refreshAndLock asks whether only listed tools can be called, then locks mu. The question is
// asked without the lock because the session answers it.
func (c *catalogue) refreshAndLock() {
	answer := c.askListedOnly()
	c.mu.Lock()
	c.listedOnly = answer
}

// searchTool is the tool whose description names the deferred tools.
const searchTool = "tool_search"

// freeze makes the list of the requests, once; the caller holds mu.
func (c *catalogue) freeze(policy *ModePolicy) {
	if c.classify(); c.encoded != nil {
		return
	}
	c.encoded = []model.Tool{}
	names, searchable := c.nameDeferred(c.named(policy)), false
	for _, entry := range c.listed {
		tool := forModel(entry)
		if entry.ID == searchTool && names != "" {
			tool.Description += "\n" + names
			searchable = true
		}
		c.encoded = append(c.encoded, tool)
	}
	c.announced.initial = c.knowledgeOf(c.listed)
	if searchable {
		c.announced.initial = c.knowledgeOf(c.usable)
	}
	if c.listedOnly {
		c.announced.initial[listedOnlyMark] = listedOnlyMark
	}
}

// named returns the deferred tools whose names the model is told, except tools that belong
// to another mode.
func (c *catalogue) named(policy *ModePolicy) (list []*tools.Entry) {
	for _, entry := range c.usable {
		if c.hidden[entry.ID] != nil && !policy.lists(entry) && (policy.refuse(entry) == "" || policy.ReadOnly) {
			list = append(list, entry)
		}
	}
	return list
}

// request returns the tools for the next model request, which is made under the given policy. The list
// changes only with the mode, and for a server that takes only calls of listed tools by the tools
// that the model has found.
func (c *catalogue) request(policy *ModePolicy) []model.Tool {
	c.refreshAndLock()
	defer c.mu.Unlock()
	c.freeze(policy)
	c.policy = policy
	if c.listedOnly {
		for _, entry := range c.foundUnlisted() {
			delete(c.hidden, entry.ID)
			c.listed, c.encoded = append(c.listed, entry), append(c.encoded, forModel(entry))
		}
		c.found = nil
	}
	return c.offered(policy)
}

// preview returns what request would return, and changes nothing.
func (c *catalogue) preview(policy *ModePolicy) []model.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.classify(); c.encoded != nil {
		return c.offered(policy)
	}
	copied := catalogue{usable: c.usable, hidden: c.hidden, listed: c.listed}
	for _, entry := range c.listed {
		copied.encoded = append(copied.encoded, forModel(entry))
	}
	return copied.offered(policy)
}

// offered returns the listed tools that the policy admits, and the hidden ones that it lists. The caller
// holds mu.
func (c *catalogue) offered(policy *ModePolicy) []model.Tool {
	if policy == nil {
		return slices.Clip(c.encoded)
	}
	var offered []model.Tool
	for i, entry := range c.listed {
		if policy.refuse(entry) == "" {
			offered = append(offered, c.encoded[i])
		}
	}
	for _, entry := range c.usable {
		if c.hidden[entry.ID] != nil && policy.lists(entry) {
			offered = append(offered, forModel(entry))
		}
	}
	return offered
}

// maxBrief bounds the description of an MCP tool in a request, in characters; tool_search returns the
// whole description (R90).
const maxBrief = 200

// forModel returns a tool in the form of a request.
func forModel(entry *tools.Entry) model.Tool {
	description := entry.Description
	if entry.Source.Kind == tools.MCP {
		description = kinds.Line(description, maxBrief)
	}
	return model.Tool{Name: entry.ID, Description: description, Parameters: entry.Schema()}
}

// sizeOf returns how many bytes of a request a tool takes.
func sizeOf(entry *tools.Entry) int {
	const frame = `{"type":"function","function":{"name":"","description":,"parameters":}},`
	tool := forModel(entry)
	description, err := json.Marshal(tool.Description)
	if err != nil {
		description = []byte(tool.Description)
	}
	return len(frame) + len(tool.Name) + len(description) + len(tool.Parameters)
}

// digestOf returns a digest of what the model sees of a tool.
func digestOf(entry *tools.Entry) string {
	return tools.DigestOf(entry.Description, string(entry.Schema()))
}

// lastPolicy returns the policy of the last request.
func (c *catalogue) lastPolicy() *ModePolicy {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.policy
}

// deferred reports whether a tool exists but is not listed.
func (c *catalogue) deferred(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classify()
	return c.searchable(c.hidden[id])
}

// shows reports whether the requests describe the current version of a tool.
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
