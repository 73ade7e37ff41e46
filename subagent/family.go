package subagent

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// Options are what a Family is made of. All fields without a stated default are
// required.
type Options struct {
	// Agents gives the manifests in force now.
	Agents func() Agents
	// Equip gives a subagent what it works with. Its pipeline is made for the node.
	Equip func(n *Node, d tools.Delegation) (Equipment, error)
	// Depth is how deep subagents may be nested (R65), Running how many of them run at
	// once; others wait.
	Depth, Running int
	// Budget bounds each tree of subagents that the main agent spawns.
	Budget Limits
	// Price gives what a model call cost; nil means that nothing is known of prices.
	Price func(model string, u transcript.Usage) float64
	// Deliver takes the message about a background subagent whose parents have all
	// ended but the main agent (R68); quiet says that the person knows of it already.
	Deliver func(message *transcript.Message, quiet bool)
	IDs     *transcript.IDs
	// Place is where the session works, for paths that people read.
	Place kinds.Place
	// Logger gets what goes wrong inside; nil means nothing.
	Logger *slog.Logger
}

// Agents are the manifests that can be delegated to.
type Agents interface {
	// Get returns the manifest of a name.
	Get(name string) (Manifest, bool)
	// Names are those that a model may choose from, sorted.
	Names() []string
}

// Equipment is what one subagent works with.
type Equipment struct {
	Provider     model.Provider
	Tools        *pipeline.Pipeline
	System       string
	Model        string
	ThoughtLevel string
	Temperature  *float64
	MaxTokens    int
	Window       func() int
	// Concurrent caps the calls of a batch that run at once; 0 means 10.
	Concurrent int
	// Remind is the loop's.
	Remind func() []transcript.Part
	// Release frees what was made for the subagent; nil means nothing.
	Release func()
}

// The causes that a subagent is cancelled with.
var (
	// ErrParentAborted is the abort of what delegated to it (R67).
	ErrParentAborted = &tools.Error{Kind: tools.Aborted, Message: "aborted by parent"}
	// ErrStopped is the person's stop of this one.
	ErrStopped = &tools.Error{
		Kind: tools.Aborted, Message: "the user stopped this subagent",
		Hint: "Do not start it again. Go on without it, or ask what they want instead.",
	}
)

// Family is the subagents of one session. It is safe for concurrent use.
//
// Goroutines: one for each subagent, which ends with it; Close waits for all.
type Family struct {
	Options
	root    *Node
	places  chan struct{}
	running sync.WaitGroup
	budget  sync.Mutex // guards what the accounts hold

	mu     sync.Mutex
	closed bool
	nodes  []*Node // in the order in which they were wanted
}

// NewFamily returns the family of a session, and its main agent's node.
func NewFamily(o Options, top Top) (*Family, *Node) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	f := &Family{Options: o, places: make(chan struct{}, o.Running)}
	f.root = &Node{family: f, id: top.ID, ids: []string{top.ID}, emit: top.Emit, messageOf: top.MessageOf, account: &account{}}
	f.root.ctx, f.root.cancel = context.WithCancelCause(context.Background())
	return f, f.root
}

// Top is the agent that the person talks to, as its family knows it.
type Top struct {
	// ID is the session's.
	ID string
	// Emit puts an event into its transcript and shows it.
	Emit func(transcript.Event)
	// MessageOf returns the message that holds an open call.
	MessageOf func(callID string) string
}

// Records lists the subagents, in the order in which they were wanted.
func (f *Family) Records() []transcript.ChildRecord {
	var list []transcript.ChildRecord
	for _, n := range f.all() {
		list = append(list, n.record())
	}
	return list
}

// Alive counts the subagents that have not ended.
func (f *Family) Alive() int {
	alive := 0
	for _, n := range f.all() {
		if !n.over() {
			alive++
		}
	}
	return alive
}

func (f *Family) all() []*Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.nodes)
}

// Stop ends one subagent and all below it, for the person. It reports whether it was
// there and had not ended.
func (f *Family) Stop(id string) bool {
	for _, n := range f.all() {
		if n.id == id && !n.over() {
			n.cancel(ErrStopped)
			return true
		}
	}
	return false
}

// CancelCall ends one tool call of any subagent, or the background subagent that a
// call has spawned (R126). It reports whether there was one.
func (f *Family) CancelCall(callID string) bool {
	for _, n := range f.all() {
		if n.over() {
			continue
		}
		if n.spawnedBy == callID {
			n.cancel(ErrStopped)
			return true
		}
		if tools := n.pipeline(); tools != nil && tools.Cancel(callID) {
			return true
		}
	}
	return false
}

// Abort ends all subagents, as an abort of the main agent does (R67).
func (f *Family) Abort() {
	for _, n := range f.all() {
		n.cancel(ErrParentAborted)
	}
}

// Quiet waits until every subagent has ended, or ctx has.
func (f *Family) Quiet(ctx context.Context) {
	for _, n := range f.all() {
		select {
		case <-n.done:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends all subagents and waits for them; none begins afterwards.
func (f *Family) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.Abort()
	f.running.Wait()
}
