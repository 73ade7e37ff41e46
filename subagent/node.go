package subagent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// Node is one agent of a session: the main one, or a subagent. It is the
// tools.Spawner of its agent.
type Node struct {
	family    *Family
	parent    *Node // nil for the main agent
	manifest  Manifest
	id        string
	names     []string // from below the main agent
	ids       []string // from the session
	spawnedBy string   // the tool call
	child     *transcript.Child
	log       *transcript.Log
	emit      func(transcript.Event)
	messageOf func(callID string) string
	account   *account
	view      *view
	ctx       context.Context
	cancel    context.CancelCauseFunc
	done      chan struct{} // closed when it has ended and all of it was told

	mu      sync.Mutex
	tools   *pipeline.Pipeline
	model   string
	blocked int // calls of it that wait for subagents
	holds   bool
	inbox   []*transcript.Message
	deaf    bool // it takes no more messages
}

// ID is the id of the agent's session.
func (n *Node) ID() string { return n.id }

// Manifest is what the agent is.
func (n *Node) Manifest() Manifest { return n.manifest }

// Names are the names from below the main agent down to this one; none for the main
// agent.
func (n *Node) Names() []string { return slices.Clone(n.names) }

// IDs are the ids from the session down to this agent (R64).
func (n *Node) IDs() []string { return slices.Clone(n.ids) }

// Parent is the agent that delegated; nil for the main agent.
func (n *Node) Parent() *Node { return n.parent }

// Call is the tool call that spawned the agent; "" for the main agent.
func (n *Node) Call() string { return n.spawnedBy }

// Log is the conversation of a subagent; nil for the main agent.
func (n *Node) Log() *transcript.Log { return n.log }

// Emit puts an event into the agent's transcript and shows it.
func (n *Node) Emit(e transcript.Event) { n.emit(e) }

// Model is the model that the agent runs on; "" before it runs, and for the main agent.
func (n *Node) Model() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.model
}

// Tools is the pipeline of the agent; nil before it runs. The session sets that of the
// main agent with Use.
func (n *Node) Tools() *pipeline.Pipeline { return n.pipeline() }

// Use gives the main agent's node its pipeline.
func (n *Node) Use(p *pipeline.Pipeline) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tools = p
}

func (n *Node) pipeline() *pipeline.Pipeline {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tools
}

func (n *Node) depth() int { return len(n.names) }

// record is what is kept of the subagent, without its conversation.
func (n *Node) record() transcript.ChildRecord {
	record := n.child.Record()
	record.Messages = nil
	return record
}

func (n *Node) over() bool {
	select {
	case <-n.done:
		return true
	default:
		return false
	}
}

// Tasks implements tools.Spawner.
func (n *Node) Tasks() []transcript.ChildRecord { return n.family.Records() }

// Spawn implements tools.Spawner. A blocking subagent whose call is aborted is waited
// for, so that its end is told before that of the call.
func (n *Node) Spawn(ctx context.Context, d tools.Delegation) (*tools.Delegated, error) {
	child, err := n.accept(ctx, d)
	if err != nil {
		return nil, err
	}
	n.emit(transcript.ChildStarted{CallID: d.CallID, Child: child.child})
	child.start(d)
	if d.Background {
		return &tools.Delegated{Record: child.record(), Card: child.view.card()}, nil
	}
	n.pause()
	<-child.done
	if err := n.resume(ctx); err != nil {
		return child.closed(), ErrParentAborted
	}
	return child.closed(), child.failure()
}

// accept makes the node of a subagent, or says why there can be none.
func (n *Node) accept(ctx context.Context, d tools.Delegation) (*Node, error) {
	f := n.family
	agents := f.Agents()
	manifest, ok := agents.Get(d.Agent)
	if !ok || manifest.Mode == Primary {
		return nil, unknown(d.Agent, agents.Names())
	}
	if n.depth() >= f.Depth {
		return nil, tools.Errorf(tools.Denied, "subagents can be nested %d deep at most, and this agent is at that depth; do the work yourself", f.Depth)
	}
	if why := n.account.spawn(&f.budget); why != "" {
		return nil, tools.Errorf(tools.Denied, "no further subagent can be started: %s", why)
	}
	child := &Node{
		family: f, parent: n, manifest: manifest, id: f.IDs.New(transcript.SessionPrefix), spawnedBy: d.CallID,
		names: append(slices.Clone(n.names), manifest.Name), log: transcript.NewLog(), done: make(chan struct{}),
	}
	child.ids = append(slices.Clone(n.ids), child.id)
	child.account = n.account.slice(&f.budget, manifest.Limits, f.Budget)
	child.messageOf = child.log.MessageOf
	child.child = transcript.NewChild(transcript.ChildRecord{
		ID: child.id, ParentID: n.id, ParentMessageID: n.messageOf(d.CallID), CallID: d.CallID, Agent: manifest.Name, Path: child.names,
		Prompt: d.Prompt, Metadata: d.Metadata, Background: d.Background, Inspectable: manifest.Inspectable,
		State: transcript.ChildQueued, Queued: time.Now(),
	}, child.log)
	child.view = newView(child)
	child.emit = func(e transcript.Event) {
		child.log.Apply(e)
		child.view.tell(e)
	}
	// A background subagent outlives the call and the turn, and its parent too; what
	// aborts its parent aborts it in finish.
	above := ctx
	if d.Background {
		above = f.root.ctx
	}
	child.ctx, child.cancel = context.WithCancelCause(above)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		child.cancel(nil)
		return nil, ErrParentAborted
	}
	f.nodes = append(f.nodes, child)
	return child, nil
}

func unknown(name string, legal []string) error {
	hint := "There are no subagents."
	if len(legal) > 0 {
		hint = "The types are: " + strings.Join(legal, ", ") + "."
	}
	return &tools.Error{Kind: tools.BadInput, Message: fmt.Sprintf("unknown subagent type %q", name), Hint: hint}
}

// pause gives the agent's place among the running ones away while it waits for a
// subagent, or the last place could wait for itself.
func (n *Node) pause() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blocked++
	if n.blocked == 1 && n.holds {
		n.holds = false
		<-n.family.places
	}
}

// resume takes a place again once nothing of the agent waits for subagents.
func (n *Node) resume(ctx context.Context) error {
	n.mu.Lock()
	n.blocked--
	wanted := n.parent != nil && n.blocked == 0
	n.mu.Unlock()
	if !wanted {
		return ctx.Err()
	}
	return n.takePlace(ctx)
}

func (n *Node) takePlace(ctx context.Context) error {
	select {
	case n.family.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holds || n.blocked > 0 { // another call of it was faster, or waits again
		<-n.family.places
		return ctx.Err()
	}
	n.holds = true
	return ctx.Err()
}

func (n *Node) leavePlace() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holds {
		n.holds = false
		<-n.family.places
	}
}
