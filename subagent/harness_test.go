package subagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"acp-agent/capability"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/model/script"
	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// agents are manifests by name.
type agents map[string]subagent.Manifest

func (a agents) Get(name string) (subagent.Manifest, bool) { m, ok := a[name]; return m, ok }
func (a agents) Names() []string                           { return slices.Sorted(maps.Keys(a)) }

// harness is a tree whose main agent is run by a loop over a scripted model, in a real
// directory.
type harness struct {
	t     testing.TB
	tree  *subagent.Tree
	root  *subagent.Node
	loop  *loop.Loop
	log   *transcript.Log
	ids   *transcript.IDs
	tools *pipeline.Pipeline

	mu        sync.Mutex
	events    []transcript.Event
	delivered []string
	shown     int                             // delivered reports with a sentence for the user
	onEvent   func(n int, e transcript.Event) // after each, with its number
}

type setup struct {
	script string
	agents agents
	edit   func(*subagent.Options)
	tools  []tools.Tool
	equip  func(n *subagent.Node, e *subagent.Equipment) error
	// asker is asked about the tool "asked".
	asker tools.Asker
	// provider replaces the script.
	provider model.Provider
}

func general() subagent.Manifest {
	return subagent.Manifest{Name: "general", Mode: subagent.Subagent, Prompt: "You are general."}
}

func newHarness(t testing.TB, s setup) *harness {
	t.Helper()
	loaded, err := script.Load("test", strings.NewReader(s.script))
	if err != nil {
		t.Fatal(err)
	}
	provider := s.provider
	if provider == nil {
		provider = loaded.Provider(script.Options{})
	}
	registry, err := tools.NewRegistry(append(builtin.All(), s.tools...)...)
	if err != nil {
		t.Fatal(err)
	}
	work, err := workspace.New(workspace.Options{
		SessionID:   "ses_test",
		Directories: workspace.Directories{Cwd: t.TempDir(), State: filepath.Join(t.TempDir(), "state"), Home: t.TempDir()},
		Protection:  run.Protection{Secret: permissions.Secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { work.Close(0) })
	b := &harness{t: t, log: transcript.NewLog(), ids: &transcript.IDs{}}
	policy := pipeline.NewPolicy(permissions.Set{}.With(permissions.DefaultScope, permissions.Rule{Permission: "*", Pattern: "*", Action: capability.Allow}).
		With(permissions.User, permissions.Rule{Permission: "asked", Pattern: "*", Action: capability.Ask}))
	pipe := func(n *subagent.Node) *pipeline.Pipeline {
		return pipeline.New(pipeline.Options{
			Toolset: pipeline.Toolset{Registry: registry}, Judges: pipeline.Judges{Policy: policy, Asker: s.asker},
			Session: awaiting{node: n}, Workspace: work, Limits: tools.CanonicalLimits(), Services: tools.Services{Agents: n},
		})
	}
	if s.agents == nil {
		s.agents = agents{"general": general()}
	}
	o := subagent.Options{
		Agents: func() subagent.Agents { return s.agents }, Depth: 5, Running: 8, IDs: b.ids, Place: work.Session().Place,
		Deliver: func(m *transcript.Message, sentence string, _ <-chan struct{}) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.delivered = append(b.delivered, m.Text())
			if sentence != "" {
				b.shown++
			}
		},
		Equip: func(n *subagent.Node, d tools.Delegation) (subagent.Equipment, error) {
			e := subagent.Equipment{
				Provider: provider, Tools: pipe(n), Model: "script", System: n.Manifest().Prompt, Window: func() int { return 1000 },
			}
			if s.equip != nil {
				return e, s.equip(n, &e)
			}
			return e, nil
		},
	}
	if s.edit != nil {
		s.edit(&o)
	}
	b.tree, b.root = subagent.NewTree(o, subagent.Root{ID: "ses_main", Emit: b.record, MessageOf: b.log.MessageOf})
	b.tools = pipe(b.root)
	b.root.SetTools(b.tools)
	b.loop = loop.New(loop.Options{
		Provider: provider, Tools: b.tools, Log: b.log, Sink: transcript.SinkFunc(b.emit), IDs: b.ids, System: "You are main.", Model: "script",
		Window: func() int { return 1000 }, Memo: &model.Memo{},
	})
	t.Cleanup(b.tree.Close)
	return b
}

func (b *harness) record(e transcript.Event) {
	b.log.Apply(e)
	b.emit(e)
}

func (b *harness) emit(e transcript.Event) {
	b.mu.Lock()
	b.events = append(b.events, e)
	n := len(b.events)
	b.mu.Unlock()
	if b.onEvent != nil {
		b.onEvent(n, e)
	}
}

func (b *harness) all() []transcript.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

func (b *harness) reports() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.delivered)
}

// await returns when ok holds.
func (b *harness) await(what string, ok func() bool) {
	b.t.Helper()
	timeout := time.After(time.Minute)
	for !ok() {
		select {
		case <-time.After(time.Millisecond):
		case <-timeout:
			b.t.Fatalf("no %s after %d events", what, len(b.all()))
		}
	}
}

// turn runs a turn of the main agent.
func (b *harness) turn(ctx context.Context, text string) loop.StopReason {
	b.t.Helper()
	stop, err := b.loop.Turn(ctx, &transcript.Message{
		ID: b.ids.New(transcript.MessagePrefix), Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: text}},
	})
	if err != nil {
		b.t.Errorf("the main agent's turn failed: %v", err)
	}
	return stop
}

// spawn delegates without a main loop.
func (b *harness) spawn(ctx context.Context, agent, prompt string, background bool) (*tools.Delegated, error) {
	return b.root.Spawn(ctx, tools.Delegation{CallID: b.ids.New(transcript.CallPrefix), Agent: agent, Prompt: prompt, Background: background})
}

// unwrap removes the ChildEvents around a subagent's event; path are the calls of these events.
func unwrap(e transcript.Event) (path string, event transcript.Event) {
	for {
		child, ok := e.(transcript.ChildEvent)
		if !ok {
			return path, e
		}
		path, e = path+"/"+child.CallID, child.Event
	}
}

// checkEnds checks R125 and R134 for all agents of a stream: each call and each subagent starts
// once and then ends once, and no event of a subagent follows its end.
func (b *harness) checkEnds() {
	b.t.Helper()
	calls, children, ended, parts := map[string]int{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	for i, e := range b.all() {
		path, e := unwrap(e)
		last := path[strings.LastIndex(path, "/")+1:]
		if ended[last] && !aboutChild(e) {
			b.t.Errorf("event %d: %T of the subagent of %s after its end", i, e, last)
		}
		switch e := e.(type) {
		case transcript.PartStarted:
			parts[e.PartID] = true
		case transcript.PartEnded:
			delete(parts, e.PartID)
		case transcript.ToolStarted:
			calls[e.CallID]++
		case transcript.ToolFinished:
			if calls[e.CallID]--; calls[e.CallID] != 0 {
				b.t.Errorf("event %d: call %s ended %d times more than it began", i, e.CallID, -calls[e.CallID])
			}
			if !e.Background && children[e.CallID] != 0 {
				b.t.Errorf("event %d: call %s ended before its subagent", i, e.CallID)
			}
		case transcript.ChildStarted:
			children[e.CallID]++
		case transcript.ChildFinished:
			if children[e.CallID]--; children[e.CallID] != 0 {
				b.t.Errorf("event %d: the subagent of %s ended %d times more than it began", i, e.CallID, -children[e.CallID])
			}
			if !e.Child.Brief().State.Terminal() {
				b.t.Errorf("event %d: the subagent of %s ended as %s", i, e.CallID, e.Child.Brief().State)
			}
			ended[e.CallID] = true
		}
	}
	for id, open := range calls {
		if open != 0 {
			b.t.Errorf("call %s did not end", id)
		}
	}
	for id, open := range children {
		if open != 0 {
			b.t.Errorf("the subagent of %s did not end", id)
		}
	}
	if len(parts) > 0 {
		b.t.Errorf("texts did not end: %v", parts)
	}
}

// aboutChild reports whether an event concerns a subagent of the agent that relays it. Such
// events continue after the agent's own end.
func aboutChild(e transcript.Event) bool {
	switch e.(type) {
	case transcript.ToolCard, transcript.ChildFinished:
		return true
	}
	return false
}

// records returns the records of all subagents by prompt.
func (b *harness) records() map[string]transcript.ChildRecord {
	list := map[string]transcript.ChildRecord{}
	for _, r := range b.tree.Records() {
		list[r.Prompt] = r
	}
	return list
}

// lastResult returns the text of the main agent's last tool call.
func (b *harness) lastResult() string {
	text := ""
	for _, m := range b.log.Messages() {
		for _, call := range m.Calls() {
			text = call.Text
		}
	}
	return text
}

func task(agent, prompt string, background bool) map[string]any {
	return map[string]any{"name": "task", "args": map[string]any{"subagent_type": agent, "prompt": prompt, "background": background}}
}

// scene returns the script for a prompt: one step for each list of calls, then an answer.
func scene(prompt, say string, steps ...[]map[string]any) string {
	var b strings.Builder
	when := map[string]any{"when": "^" + prompt + "$"}
	for _, calls := range steps {
		step := map[string]any{"call": calls, "usage": map[string]any{"input": 10, "output": 5}}
		maps.Copy(step, when)
		when = nil
		raw, _ := json.Marshal(step)
		b.Write(append(raw, '\n'))
	}
	step := map[string]any{"say": say, "usage": map[string]any{"input": 10, "output": 5}}
	maps.Copy(step, when)
	raw, _ := json.Marshal(step)
	b.Write(append(raw, '\n'))
	return b.String()
}

func calls(list ...map[string]any) []map[string]any { return list }

// named returns a test tool.
func named(id string, run func(ctx context.Context) error) tools.Tool {
	return tools.Define(tools.Spec{ID: id, Description: "A tool of a test.", Profile: &tools.Profile{}, DisableTimeout: true},
		func(ctx context.Context, _ tools.Runtime, _ struct{}) (*tools.Result, error) {
			if err := run(ctx); err != nil {
				return nil, err
			}
			return &tools.Result{Data: "ok", Text: "ok"}, nil
		})
}

func call(tool string) map[string]any { return map[string]any{"name": tool, "args": map[string]any{}} }

// held returns a tool that blocks until the test releases it or the call is cancelled.
func held(started chan<- struct{}, release <-chan struct{}) tools.Tool {
	return named("hold", func(ctx context.Context) error {
		started <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

func wantError(t *testing.T, err error, kind tools.ErrorKind, text string) {
	t.Helper()
	var failure *tools.Error
	if !errors.As(err, &failure) || failure.Kind != kind || !strings.Contains(failure.Error(), text) {
		t.Errorf("got error %v, want %s with %q", err, kind, text)
	}
}

// awaiting is a session whose subagent waits for the user.
type awaiting struct {
	pipeline.NoSession
	node *subagent.Node
}

// AwaitUser implements pipeline.Session.
func (a awaiting) AwaitUser(ctx context.Context) func() { return a.node.WaitForUser(ctx) }
