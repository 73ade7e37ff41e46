package subagent

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"acp-agent/compaction"
	"acp-agent/internal/record"
	"acp-agent/internal/trace"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// Options configure a Tree. All fields without a stated default are required.
type Options struct {
	// Agents returns the current manifests.
	Agents func() Agents
	// Equip returns what a subagent works with. It creates the pipeline for the node.
	Equip func(n *Node, d tools.Delegation) (Equipment, error)
	// Depth limits how deep subagents may be nested (R65); 0 disables subagents. Running limits
	// how many run at once, the others wait; 0 means 8.
	Depth, Running int
	// Budget bounds each subagent that the main agent spawns, together with its descendants.
	Budget Limits
	// Price returns the cost of a model call; nil means that prices are unknown.
	Price func(model string, u transcript.Usage) float64
	// Deliver receives the report of a background subagent whose ancestors below the main agent
	// have all ended (R68). message is for the model. sentence is for the user; it is empty
	// when there is nothing new to say. shown is closed after the subagent's end has been
	// shown; neither text may appear earlier.
	Deliver func(message *transcript.Message, sentence string, shown <-chan struct{})
	IDs     *transcript.IDs
	// Tape records which subagents a listing finds, or has that from a recording; nil does neither.
	Tape *record.Tape
	// Place is the session's working directory, for paths in texts for the user.
	Place kinds.Place
	// Logger records internal failures; nil discards them.
	Logger *slog.Logger
}

// defaultRunning is the default number of subagents that run at once.
const defaultRunning = 8

// maxActive bounds how many subagents may exist at once, including waiting ones. No other limit
// bounds how many the main agent spawns.
const maxActive = 200

// Agents gives access to the manifests that accept delegated work.
type Agents interface {
	// Get returns the manifest with a name.
	Get(name string) (Manifest, bool)
	// Names lists the agents that a model may choose from, sorted.
	Names() []string
}

// Equipment is what one subagent works with.
type Equipment struct {
	Provider model.Provider
	// Tape is that of loop.Options.
	Tape         *record.Tape
	Tools        *pipeline.Pipeline
	System       string
	Model        string
	ThoughtLevel string
	Temperature  *float64
	MaxTokens    int
	Window       func() int
	// MaxSteps caps the model calls of one turn if the manifest sets no limit; 0 means 200.
	MaxSteps int
	// Concurrent caps the calls of a batch that run at once; 0 means 10.
	Concurrent int
	// NoticeAfter is passed to the loop.
	NoticeAfter time.Duration
	// Remind is passed to the loop.
	Remind func() []transcript.Part
	// Writers is passed to the loop (R139).
	Writers func() []compaction.Writer
	// Tracer is passed to the loop; nil disables tracing.
	Tracer *trace.Tracer
	// Release frees the resources of the subagent; nil means that there are none.
	Release func()
}

// Tree is the agents of one session. It is safe for concurrent use.
//
// Goroutines: each subagent has one that ends with it. A cancelled subagent that does not end
// in time has another one, which closes it. Close waits for all of them.
type Tree struct {
	Options
	root    *Node
	slots   chan struct{}
	running sync.WaitGroup // a subagent is added under mu, before it starts

	mu        sync.Mutex // guards what follows
	closed    bool
	subagents []subagent // all subagents so far, in spawn order
	active    []*Node    // the subagents that have not ended, in spawn order
}

// subagent is what the tree still has of a subagent after its end.
type subagent struct {
	child   *transcript.Child
	account *account
}

// NewTree returns the tree of a session and the node of its main agent.
func NewTree(o Options, root Root) (*Tree, *Node) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Running <= 0 {
		o.Running = defaultRunning
	}
	t := &Tree{Options: o, slots: make(chan struct{}, o.Running)}
	t.root = &Node{tree: t, root: root, id: root.ID, ids: []string{root.ID}, account: newAccount()}
	return t, t.root
}

// Root is what the tree needs of the main agent, which the user talks to.
type Root struct {
	// ID is the id of the session.
	ID string
	// Emit adds an event to the main agent's transcript and shows it.
	Emit func(transcript.Event)
	// MessageOf returns the id of the message that holds an open call.
	MessageOf func(callID string) string
}

// Records lists the subagents in spawn order, without their conversations.
func (t *Tree) Records() []transcript.ChildRecord {
	var list []transcript.ChildRecord
	for _, m := range t.all() {
		list = append(list, m.child.Brief())
	}
	return list
}

// Active lists the subagents that have not ended, in spawn order.
func (t *Tree) Active() []transcript.ChildRecord {
	var list []transcript.ChildRecord
	for _, n := range t.activeNodes() {
		if record := n.child.Brief(); !record.State.Terminal() {
			list = append(list, record)
		}
	}
	return list
}

// Statement lists what a subagent and its descendants have spent and may spend.
type Statement struct {
	// Record has no conversation; its counts cover the subagent alone.
	Record transcript.ChildRecord
	Spent  Spending
	Limits Limits
}

// Statements returns a Statement for each subagent, in the order of Records.
func (t *Tree) Statements() []Statement {
	var list []Statement
	for _, m := range t.all() {
		s := Statement{Record: m.child.Brief()}
		s.Spent, s.Limits = m.account.statement()
		list = append(list, s)
	}
	return list
}

func (t *Tree) all() []subagent {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.subagents)
}

// activeNodes returns the subagents that have not ended.
func (t *Tree) activeNodes() []*Node {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.active)
}

// ActiveCount counts the subagents that have not ended.
func (t *Tree) ActiveCount() int { return len(t.activeNodes()) }

// add registers a new subagent, unless the delegating agent was aborted or too many subagents
// exist.
func (t *Tree) add(ctx context.Context, n *Node) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	// An abort cancels ctx, and Close sets closed, before they list the active subagents: a
	// subagent that comes later sees one of the two.
	if t.closed || ctx.Err() != nil {
		return errParentAborted
	}
	if len(t.active) >= maxActive {
		return tools.Errorf(tools.Unavailable, "no further subagent can be started: %d of this session have not ended; wait for them", maxActive)
	}
	t.subagents = append(t.subagents, subagent{n.child, n.account})
	t.active = append(t.active, n)
	t.running.Add(1)
	return nil
}

// remove drops the node of a subagent that has ended.
func (t *Tree) remove(n *Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active = slices.DeleteFunc(t.active, func(other *Node) bool { return other == n })
}

// Stop cancels one subagent and its descendants for the user. It reports whether the subagent
// existed and had not ended.
func (t *Tree) Stop(id string) bool {
	for _, n := range t.activeNodes() {
		if n.id == id {
			n.cancel(errStopped)
			return true
		}
	}
	return false
}

// CancelCall cancels the subagent that a call spawned, or one tool call of any subagent (R126).
// It reports whether there was one.
func (t *Tree) CancelCall(callID string) bool {
	active := t.activeNodes()
	for _, n := range active {
		if n.spawnedBy == callID {
			n.cancel(errStopped)
			return true
		}
	}
	for _, n := range active {
		if tools := n.Tools(); tools != nil && tools.Cancel(callID) {
			return true
		}
	}
	return false
}

// Abort cancels all subagents, as an abort of the main agent does (R67).
func (t *Tree) Abort() {
	for _, n := range t.activeNodes() {
		n.cancel(errParentAborted)
	}
}

// WaitAll waits until every current subagent has ended, or ctx is done.
func (t *Tree) WaitAll(ctx context.Context) {
	for _, n := range t.activeNodes() {
		select {
		case <-n.done:
		case <-ctx.Done():
			return
		}
	}
}

// Close cancels all subagents and waits for them; no further subagent can start.
func (t *Tree) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.Abort()
	t.running.Wait()
}
