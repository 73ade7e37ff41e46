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
	top       Top   // of the main agent
	parent    *Node // nil for the main agent
	manifest  Manifest
	id        string
	names     []string // from below the main agent
	ids       []string // from the session
	spawnedBy string   // the tool call
	child     *transcript.Child
	log       *transcript.Log
	account   *account
	view      *view

	ctx     context.Context
	cancel  context.CancelCauseFunc
	begun   chan struct{} // closed when its beginning was told
	closing sync.Once
	done    chan struct{} // closed when it has ended and all of it was told
	ending  ending        // what came of it, once it is done

	// voice is held for reading while something of the agent's own is told, and for
	// writing when it falls silent for good.
	voice  sync.RWMutex
	silent bool

	mu      sync.Mutex // guards what follows
	tools   *pipeline.Pipeline
	model   string
	blocked int           // calls of it that wait for subagents
	asking  int           // calls of it that wait for the user
	holds   bool          // a place among the running ones
	left    bool          // it takes no place again
	settled chan struct{} // closed when it has one, or needs none, and made anew
	inbox   []report
	deaf    bool // it takes no more reports
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

// Model is the model that the agent runs on; "" before it runs, and for the main agent.
func (n *Node) Model() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.model
}

// Tools is the pipeline of the agent; nil before it runs. The session sets that of the
// main agent with Use.
func (n *Node) Tools() *pipeline.Pipeline {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tools
}

// Use gives the main agent's node its pipeline.
func (n *Node) Use(p *pipeline.Pipeline) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tools = p
}

func (n *Node) depth() int { return len(n.names) }

// under reports whether an agent is below another.
func (n *Node) under(above *Node) bool {
	for p := n.parent; p != nil; p = p.parent {
		if p == above {
			return true
		}
	}
	return false
}

// Tasks implements tools.Spawner.
func (n *Node) Tasks() []transcript.ChildRecord { return n.family.Records() }

// Lacks implements tools.Spawner.
func (n *Node) Lacks(agent string) string {
	agents := n.family.Agents()
	manifest, ok := agents.Get(agent)
	switch {
	case n.depth() >= n.family.Depth:
		return "subagents can be nested no deeper"
	case agent != "" && (!ok || manifest.Mode == Primary):
		return "there is no subagent " + agent
	case agent == "" && len(agents.Names()) == 0:
		return "there are no subagents"
	}
	return ""
}

// Spawn implements tools.Spawner. A blocking subagent whose call is aborted is waited
// for, so that its end is told before that of the call: cancelled, it ends or is closed
// within closeGrace.
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
	n.pause()
	<-child.done
	n.resume(ctx)
	return child.ending.result, child.ending.failure
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
		return nil, tools.Errorf(tools.Unavailable, "subagents can be nested %d deep at most, and this agent is at that depth; do the work yourself", f.Depth)
	}
	account, why := n.account.open(manifest.Limits, f.Budget)
	if why != "" {
		return nil, tools.Errorf(tools.Unavailable, "no further subagent can be started: %s", why)
	}
	child := &Node{
		family: f, parent: n, manifest: manifest, id: f.IDs.New(transcript.SessionPrefix), spawnedBy: d.CallID,
		names: append(slices.Clone(n.names), manifest.Name), log: transcript.NewLog(), account: account,
		begun: make(chan struct{}), done: make(chan struct{}), settled: make(chan struct{}), view: newView(),
	}
	account.expire = func() { f.timeUp(account) }
	child.ids = append(slices.Clone(n.ids), child.id)
	child.child = transcript.NewChild(transcript.ChildRecord{
		ID: child.id, ParentID: n.id, ParentMessageID: n.messageOf(d.CallID), CallID: d.CallID, Agent: manifest.Name, Path: child.names,
		Prompt: d.Prompt, Metadata: d.Metadata, Background: d.Background, Inspectable: manifest.Inspectable,
		State: transcript.ChildQueued, Queued: time.Now(),
	}, child.log)
	above := ctx
	if d.Background {
		// It outlives the call and the turn, and its parent too; the abort of its parent
		// reaches it by another way (closeBelow).
		above = context.WithoutCancel(ctx)
	}
	child.ctx, child.cancel = context.WithCancelCause(above)
	if err := f.join(ctx, child); err != nil {
		child.cancel(nil)
		return nil, err
	}
	return child, nil
}

func (n *Node) messageOf(callID string) string {
	if n.parent == nil {
		return n.top.MessageOf(callID)
	}
	return n.log.MessageOf(callID)
}

func unknown(name string, legal []string) error {
	hint := "There are no subagents."
	if len(legal) > 0 {
		hint = "The types are: " + strings.Join(legal, ", ") + "."
	}
	return &tools.Error{Kind: tools.BadInput, Message: fmt.Sprintf("unknown subagent type %q", name), Hint: hint}
}
