package subagent

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"acp-agent/internal/trace"
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
	// Depth is how deep subagents may be nested (R65); 0 means that there are none.
	// Running is how many of them run at once, others wait; 0 means 8.
	Depth, Running int
	// Budget bounds each tree of subagents that the main agent spawns.
	Budget Limits
	// Price gives what a model call cost; nil means that nothing is known of prices.
	Price func(model string, u transcript.Usage) float64
	// Deliver takes the message about a background subagent whose parents have all
	// ended but the main agent (R68). The message is for the model; said is the sentence for
	// the user, empty when there is nothing new to tell. shown is closed once the end of the
	// subagent has been shown, before which neither is to be.
	Deliver func(message *transcript.Message, said string, shown <-chan struct{})
	IDs     *transcript.IDs
	// Place is where the session works, for paths that people read.
	Place kinds.Place
	// Logger gets what goes wrong inside; nil means nothing.
	Logger *slog.Logger
}

// defaultRunning is how many subagents run at once when nothing else is said (I4).
const defaultRunning = 8

// maxLiving bounds how many there are at once, with those that wait for a place: what the
// main agent can spawn is bounded by nothing else (I4).
const maxLiving = 200

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
	// MaxSteps caps the model calls of one turn of an agent whose manifest does not;
	// 0 means 200.
	MaxSteps int
	// Concurrent caps the calls of a batch that run at once; 0 means 10.
	Concurrent int
	// NoticeAfter is the loop's.
	NoticeAfter time.Duration
	// Remind is the loop's.
	Remind func() []transcript.Part
	// Tracer is the loop's; nil means that nothing is traced.
	Tracer *trace.Tracer
	// Release frees what was made for the subagent; nil means nothing.
	Release func()
}

// Family is the subagents of one session. It is safe for concurrent use.
//
// Goroutines: one for each subagent, which ends with it, and one that closes it when it
// was cancelled and does not end by itself; Close waits for all.
type Family struct {
	Options
	root    *Node
	places  chan struct{}
	running sync.WaitGroup // a subagent is added under mu, before it begins

	mu      sync.Mutex
	closed  bool
	members []member // all that there have been, in the order in which they were wanted
	living  []*Node  // those that have not ended, in the same order
}

// member is what the family keeps of a subagent for good: what it worked with is let go
// when it has ended.
type member struct {
	child   *transcript.Child
	account *account
}

// NewFamily returns the family of a session, and its main agent's node.
func NewFamily(o Options, top Top) (*Family, *Node) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Running <= 0 {
		o.Running = defaultRunning
	}
	f := &Family{Options: o, places: make(chan struct{}, o.Running)}
	f.root = &Node{family: f, top: top, id: top.ID, ids: []string{top.ID}, account: newAccount()}
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

// Records lists the subagents without their conversations, in the order in which they
// were wanted.
func (f *Family) Records() []transcript.ChildRecord {
	var list []transcript.ChildRecord
	for _, m := range f.all() {
		list = append(list, m.child.Brief())
	}
	return list
}

// Living lists the records of those that have not ended, in the same order.
func (f *Family) Living() []transcript.ChildRecord {
	var list []transcript.ChildRecord
	for _, n := range f.alive() {
		if record := n.child.Brief(); !record.State.Terminal() {
			list = append(list, record)
		}
	}
	return list
}

// Statement is what a subagent and all below it have spent, and may spend.
type Statement struct {
	// Record is without the conversation; its counts are of the subagent alone.
	Record transcript.ChildRecord
	Spent  Spending
	Limits Limits
}

// Statements lists what was spent, in the order of Records.
func (f *Family) Statements() []Statement {
	var list []Statement
	for _, m := range f.all() {
		s := Statement{Record: m.child.Brief()}
		s.Spent, s.Limits = m.account.statement()
		list = append(list, s)
	}
	return list
}

func (f *Family) all() []member {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.members)
}

// alive are the subagents that have not ended.
func (f *Family) alive() []*Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.living)
}

// Alive counts the subagents that have not ended.
func (f *Family) Alive() int { return len(f.alive()) }

// join takes in a subagent that is to begin, unless what delegates was aborted, or there
// are too many.
func (f *Family) join(ctx context.Context, n *Node) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Abort cancels first and looks for members then: who comes after sees the cancel.
	if f.closed || ctx.Err() != nil {
		return ErrParentAborted
	}
	if len(f.living) >= maxLiving {
		return tools.Errorf(tools.Unavailable, "no further subagent can be started: %d of this session have not ended; wait for them", maxLiving)
	}
	f.members = append(f.members, member{n.child, n.account})
	f.living = append(f.living, n)
	f.running.Add(1)
	return nil
}

// leave lets go of a subagent that has ended.
func (f *Family) leave(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.living = slices.DeleteFunc(f.living, func(other *Node) bool { return other == n })
}

// Stop ends one subagent and all below it, for the person. It reports whether it was
// there and had not ended.
func (f *Family) Stop(id string) bool {
	for _, n := range f.alive() {
		if n.id == id {
			n.cancel(ErrStopped)
			return true
		}
	}
	return false
}

// CancelCall ends the subagent that a call has spawned, or one tool call of any subagent
// (R126). It reports whether there was one.
func (f *Family) CancelCall(callID string) bool {
	alive := f.alive()
	for _, n := range alive {
		if n.spawnedBy == callID {
			n.cancel(ErrStopped)
			return true
		}
	}
	for _, n := range alive {
		if tools := n.Tools(); tools != nil && tools.Cancel(callID) {
			return true
		}
	}
	return false
}

// Abort ends all subagents, as an abort of the main agent does (R67).
func (f *Family) Abort() {
	for _, n := range f.alive() {
		n.cancel(ErrParentAborted)
	}
}

// Quiet waits until every subagent that is there has ended, or ctx has.
func (f *Family) Quiet(ctx context.Context) {
	for _, n := range f.alive() {
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
