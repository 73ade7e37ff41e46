package subagent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/record"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// Node is one agent of a session: the main agent or a subagent. It is the tools.Spawner of
// its agent.
type Node struct {
	tree      *Tree
	root      Root  // set for the main agent only
	parent    *Node // nil for the main agent
	manifest  Manifest
	id        string
	names     []string // from the child of the main agent down to this agent
	ids       []string // from the session down to this agent
	spawnedBy string   // the tool call
	child     *transcript.Child
	log       *transcript.Log
	account   *account
	slot      *slotHolder // nil for the main agent
	view      *view
	inbox     inbox

	ctx       context.Context
	cancel    context.CancelCauseFunc
	announced chan struct{} // closed after ChildStarted was emitted
	closing   sync.Once
	done      chan struct{} // closed after ChildFinished was emitted
	outcome   outcome       // set before done is closed

	wasCancelled bool // see isCancelled

	// outputMu is held for reading while the agent emits an event, and for writing while it
	// is muted.
	outputMu sync.RWMutex
	muted    bool

	mu     sync.Mutex // guards the following fields
	tools  *pipeline.Pipeline
	model  string
	asking int // calls that wait for the user
}

// ID returns the id of the agent's session.
func (n *Node) ID() string { return n.id }

// Manifest returns the manifest of the agent.
func (n *Node) Manifest() Manifest { return n.manifest }

// Names returns the names from the child of the main agent down to this agent; none for the
// main agent.
func (n *Node) Names() []string { return slices.Clone(n.names) }

// IDs returns the ids from the session down to this agent (R64).
func (n *Node) IDs() []string { return slices.Clone(n.ids) }

// Parent returns the agent that delegated; nil for the main agent.
func (n *Node) Parent() *Node { return n.parent }

// Call returns the tool call that spawned the agent; "" for the main agent.
func (n *Node) Call() string { return n.spawnedBy }

// Log returns the conversation of a subagent; nil for the main agent.
func (n *Node) Log() *transcript.Log { return n.log }

// Model returns the model of the agent; "" before it runs, and for the main agent.
func (n *Node) Model() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.model
}

// Tools returns the pipeline of the agent; nil before it runs. The session sets the main
// agent's with SetTools.
func (n *Node) Tools() *pipeline.Pipeline {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tools
}

// SetTools sets the pipeline of the main agent.
func (n *Node) SetTools(p *pipeline.Pipeline) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tools = p
}

func (n *Node) depth() int { return len(n.names) }

// isBelow reports whether the agent is a descendant of above.
func (n *Node) isBelow(above *Node) bool {
	for p := n.parent; p != nil; p = p.parent {
		if p == above {
			return true
		}
	}
	return false
}

// Tasks implements tools.Spawner. Subagents start and end while it looks.
func (n *Node) Tasks() []transcript.ChildRecord {
	return record.Look(n.tree.Tape, "tasks", n.id, n.tree.Records)
}

// Lacks implements tools.Spawner.
func (n *Node) Lacks(agent string) string {
	agents := n.tree.Agents()
	manifest, ok := agents.Get(agent)
	switch {
	case n.depth() >= n.tree.Depth:
		return "subagents can be nested no deeper"
	case agent != "" && (!ok || manifest.Mode == Primary):
		return "there is no subagent " + agent
	case agent == "" && len(agents.Names()) == 0:
		return "there are no subagents"
	}
	return ""
}

// Spawn implements tools.Spawner. It also waits for a blocking subagent whose call is aborted,
// so that the subagent's end is reported before the call's: a cancelled subagent ends, or is
// closed, within closeGrace.
func (n *Node) Spawn(ctx context.Context, d tools.Delegation) (*tools.Delegated, error) {
	child, err := n.accept(ctx, d)
	if err != nil {
		return nil, err
	}
	n.Emit(transcript.ChildStarted{CallID: d.CallID, Child: child.child})
	child.start(d)
	if d.Background {
		return &tools.Delegated{Record: child.child.Brief(), Card: child.card()}, nil
	}
	n.slot.beginWait()
	<-child.done
	n.slot.endWait(ctx)
	return child.outcome.result, child.outcome.failure
}

// accept creates the node of a subagent, or returns the reason why that is impossible.
func (n *Node) accept(ctx context.Context, d tools.Delegation) (*Node, error) {
	t := n.tree
	agents := t.Agents()
	manifest, ok := agents.Get(d.Agent)
	if !ok || manifest.Mode == Primary {
		return nil, unknownType(d.Agent, agents.Names())
	}
	if n.depth() >= t.Depth {
		return nil, tools.Errorf(tools.Unavailable, "subagents can be nested %d deep at most, and this agent is at that depth; do the work yourself", t.Depth)
	}
	account, why := n.account.open(manifest.Limits, t.Budget)
	if why != "" {
		return nil, tools.Errorf(tools.Unavailable, "no further subagent can be started: %s", why)
	}
	child := &Node{
		tree: t, parent: n, manifest: manifest, id: t.IDs.New(transcript.SessionPrefix), spawnedBy: d.CallID,
		names: append(slices.Clone(n.names), manifest.Name), log: transcript.NewLog(), account: account,
		announced: make(chan struct{}), done: make(chan struct{}), slot: newSlotHolder(t.slots, account), view: newView(),
	}
	account.expire = func() { t.cancelExpired(account) }
	child.ids = append(slices.Clone(n.ids), child.id)
	child.child = transcript.NewChild(transcript.ChildRecord{
		ID: child.id, ParentID: n.id, ParentMessageID: n.messageOf(d.CallID), CallID: d.CallID, Agent: manifest.Name, Path: child.names,
		Prompt: d.Prompt, Metadata: d.Metadata, Background: d.Background, Inspectable: manifest.Inspectable,
		State: transcript.ChildQueued, Queued: time.Now(),
	}, child.log)
	above := ctx
	if d.Background {
		// A background subagent outlives the call, the turn and its parent. If its parent is
		// aborted, closeChildren cancels it.
		above = context.WithoutCancel(ctx)
	}
	child.ctx, child.cancel = context.WithCancelCause(above)
	if err := t.add(ctx, child); err != nil {
		child.cancel(nil)
		return nil, err
	}
	return child, nil
}

func (n *Node) messageOf(callID string) string {
	if n.parent == nil {
		return n.root.MessageOf(callID)
	}
	return n.log.MessageOf(callID)
}

// unknownType is the error of a delegation to a type that is not there.
func unknownType(name string, legal []string) error {
	hint := "There are no subagents."
	if len(legal) > 0 {
		hint = "The types are: " + strings.Join(legal, ", ") + "."
	}
	return &tools.Error{Kind: tools.BadInput, Message: fmt.Sprintf("unknown subagent type %q", name), Hint: hint}
}
