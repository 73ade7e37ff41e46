package subagent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// stuckModel ignores cancellation.
type stuckModel struct {
	panicking
	release <-chan struct{}
}

func (m stuckModel) Stream(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		yield(model.Chunk{Kind: model.Text, Text: "I am "}, nil)
		<-m.release
		_ = yield(model.Chunk{Kind: model.Text, Text: "late"}, nil) && yield(model.Chunk{Kind: model.Finish, Reason: model.Stop}, nil)
	}
}

// withStuckModel adds an agent whose model ignores cancellation.
func withStuckModel(s setup, release <-chan struct{}) setup {
	stuck := general()
	stuck.Name = "stuck"
	s.agents = agents{"general": general(), "stuck": stuck}
	s.equip = func(n *subagent.Node, e *subagent.Equipment) error {
		if n.Manifest().Name == "stuck" {
			e.Provider = stuckModel{release: release}
		}
		return nil
	}
	return s
}

// R67, R126: each way to end a running subagent, and the states that it leaves.
func TestCancel(t *testing.T) {
	type state = transcript.ChildState
	const done, cancelled = transcript.ChildDone, transcript.ChildCancelled
	id := func(b *harness, prompt string) string { return b.records()[prompt].ID }
	callOf := func(b *harness, prompt string) string { return b.records()[prompt].CallID }
	tests := []struct {
		name       string
		background bool // the outer one; the inner one is in the background in any case
		act        func(b *harness, cancel func())
		stop       loop.StopReason
		outer      state
		inner      state
		note       string
	}{
		{name: "the turn, blocking", act: func(_ *harness, cancel func()) { cancel() }, stop: loop.Cancelled, outer: cancelled, inner: cancelled, note: "aborted by parent"},
		{name: "all, in the background", background: true, act: func(b *harness, _ func()) { b.tree.Abort() }, stop: loop.EndTurn, outer: cancelled, inner: cancelled, note: "aborted by parent"},
		{name: "the blocking one", act: func(b *harness, _ func()) { b.tree.Stop(id(b, "outer")) }, stop: loop.EndTurn, outer: cancelled, inner: cancelled, note: "the user stopped"},
		{name: "the background one", background: true, act: func(b *harness, _ func()) { b.tree.Stop(id(b, "outer")) }, stop: loop.EndTurn, outer: cancelled, inner: cancelled, note: "the user stopped"},
		{name: "the inner one", act: func(b *harness, _ func()) { b.tree.Stop(id(b, "inner")) }, stop: loop.EndTurn, outer: done, inner: cancelled},
		{name: "the call of the blocking one", act: func(b *harness, _ func()) { b.tree.CancelCall(callOf(b, "outer")) }, stop: loop.EndTurn, outer: cancelled, inner: cancelled, note: "the user stopped"},
		{name: "the call of the background one", background: true, act: func(b *harness, _ func()) { b.tree.CancelCall(callOf(b, "outer")) }, stop: loop.EndTurn, outer: cancelled, inner: cancelled, note: "the user stopped"},
		{name: "the call of the inner one", act: func(b *harness, _ func()) { b.tree.CancelCall(callOf(b, "inner")) }, stop: loop.EndTurn, outer: done, inner: cancelled},
		{
			name: "one tool call of the outer one", stop: loop.EndTurn, outer: done, inner: done,
			act: func(b *harness, _ func()) {
				for _, e := range b.all() {
					path, e := unwrap(e)
					if ready, ok := e.(transcript.ToolReady); ok && ready.Tool == "hold" && strings.Count(path, "/") == 1 && !b.tree.CancelCall(ready.CallID) {
						b.t.Error("the call was not there")
					}
				}
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			started, release := make(chan struct{}, 2), make(chan struct{})
			text := scene("go", "I go on.", calls(task("general", "outer", test.background))) +
				scene("outer", "Ended.", calls(task("general", "inner", true)), calls(call("hold"))) + `{"say":"Heard."}` + "\n" + scene("inner", "Ended.", calls(call("hold")))
			b := newHarness(t, setup{script: text, tools: []tools.Tool{held(started, release)}})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan loop.StopReason, 1)
			go func() { ended <- b.turn(ctx, "go") }()
			<-started
			<-started
			test.act(b, cancel)
			b.await("end of one", func() bool { return b.tree.ActiveCount() < 2 })
			if test.outer == cancelled {
				b.await("end of all that it ends", func() bool { return b.tree.ActiveCount() == 0 })
			}
			close(release)
			b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
			if stop := <-ended; stop != test.stop {
				t.Errorf("the turn ended as %s, want %s", stop, test.stop)
			}
			outer, inner := b.records()["outer"], b.records()["inner"]
			if outer.State != test.outer || inner.State != test.inner {
				t.Errorf("the outer one is %s and the inner one %s, want %s and %s", outer.State, inner.State, test.outer, test.inner)
			}
			if !strings.Contains(outer.Note, test.note) || (test.note == "") != (outer.Note == "") {
				t.Errorf("the note is %q, want %q", outer.Note, test.note)
			}
			if !test.background && test.note != "" && !strings.Contains(b.lastResult(), test.note) {
				t.Errorf("the model reads %q, want %q", b.lastResult(), test.note)
			}
			b.checkEnds()
		})
	}
}

// A subagent whose model ignores cancellation is closed at any depth: the turn ends in time,
// all open calls end, and later output is dropped.
func TestCancel_ClosesAStuckSubagent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		text := scene("go", "-", calls(task("general", "one", false))) + scene("one", "-", calls(task("general", "two", false))) +
			scene("two", "-", calls(task("stuck", "three", false), task("stuck", "four", true)))
		b := newHarness(t, withStuckModel(setup{script: text}, release))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan loop.StopReason, 1)
		go func() { ended <- b.turn(ctx, "go") }()
		synctest.Wait()
		cancel()
		if stop := <-ended; stop != loop.Cancelled {
			t.Errorf("the turn ended as %s", stop)
		}
		b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
		b.checkEnds()
		told := len(b.all())
		close(release)
		b.tree.Close()
		if late := b.all()[told:]; len(late) > 0 {
			t.Errorf("%d events came late, the first %#v", len(late), late[0])
		}
		for prompt, r := range b.records() {
			if r.State != transcript.ChildCancelled {
				t.Errorf("%s is %s", prompt, r.State)
			}
		}
	})
}

// A closed tree accepts no subagent, even if Spawn and Close run concurrently.
func TestClose_WhileSpawning(t *testing.T) {
	for range 20 {
		b := newHarness(t, setup{script: `{"say":"hello"}`})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				if _, err := b.spawn(context.Background(), "general", "x", true); err != nil {
					return
				}
			}
		}()
		b.await("first one", func() bool { return len(b.tree.Records()) > 0 })
		b.tree.Close()
		<-done
		if n := b.tree.ActiveCount(); n > 0 {
			t.Fatalf("%d are alive", n)
		}
		b.checkEnds()
	}
}

// plan is a random tree of subagents with random actions.
type plan struct {
	script string
	// acts are what is done after which event: to abort all, to stop a subagent or to
	// cancel a call, the n-th of those there are.
	acts map[int]act
}

type act struct {
	kind string
	n    int
}

func drawPlan(t *rapid.T) plan {
	var text strings.Builder
	nodes := 0
	var draw func(depth int) string
	draw = func(depth int) string {
		prompt := fmt.Sprintf("node %d", nodes)
		nodes++
		var steps [][]map[string]any
		for range rapid.IntRange(0, 2).Draw(t, "steps") {
			var list []map[string]any
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				switch kind := rapid.SampledFrom([]string{"task", "background", "stuck", "hold", "glob", "stuck", "asked"}).Draw(t, "call"); {
				case kind == "stuck":
					list = append(list, task("stuck", "stuck", rapid.Bool().Draw(t, "background")))
				case (kind == "task" || kind == "background") && depth < 3 && nodes < 12:
					list = append(list, task("general", draw(depth+1), kind == "background"))
				case kind == "hold", kind == "stuck", kind == "asked":
					list = append(list, call(kind))
				default:
					list = append(list, map[string]any{"name": "glob", "args": map[string]any{"filePattern": "*"}})
				}
			}
			steps = append(steps, list)
		}
		text.WriteString(scene(prompt, "Ended.", steps...))
		return prompt
	}
	draw(0)
	p := plan{script: text.String(), acts: map[int]act{}}
	for range rapid.IntRange(0, 3).Draw(t, "acts") {
		p.acts[rapid.IntRange(1, 150).Draw(t, "after")] = act{
			rapid.SampledFrom([]string{"abort", "stop", "call"}).Draw(t, "act"), rapid.IntRange(0, 20).Draw(t, "which"),
		}
	}
	return p
}

// R67, R125: in any tree and with a cancellation at any time, each subagent and each call ends
// exactly once, and no event follows.
func TestCancel_EverythingEndsOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		synctest.Test(t, func(t *testing.T) { p.play(t) })
		if t.Failed() {
			rt.Fatalf("the script was\n%s\nand the acts %v", p.script, p.acts)
		}
	})
}

func (p plan) play(t *testing.T) {
	release := make(chan struct{})
	hold := held(make(chan struct{}, 1000), release)
	stuck := named("stuck", func(context.Context) error { <-release; return nil })
	asked := named("asked", func(context.Context) error { return nil })
	b := newHarness(t, withStuckModel(setup{
		script: p.script + scene("after all", "It runs."), tools: []tools.Tool{hold, stuck, asked}, asker: later(release),
		edit: func(o *subagent.Options) { o.Running = 3 },
	}, release))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.onEvent = func(n int, _ transcript.Event) {
		a, ok := p.acts[n]
		if !ok {
			return
		}
		switch records := b.tree.Records(); a.kind {
		case "abort":
			cancel()
			b.tree.Abort()
		case "stop":
			if len(records) > 0 {
				b.tree.Stop(records[a.n%len(records)].ID)
			}
		case "call":
			if ids := b.startedCalls(); len(ids) > 0 {
				_ = b.tree.CancelCall(ids[a.n%len(ids)]) || b.tools.Cancel(ids[a.n%len(ids)])
			}
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.turn(ctx, "node 0")
	}()
	synctest.Wait()
	if ctx.Err() != nil {
		<-ended // it ends without any of the stuck subagents
	}
	close(release)
	<-ended
	b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
	b.checkAtRest()
	b.tree.Close()
	b.checkEnds()
}

// later is a user who allows after a delay.
type later <-chan struct{}

// Ask implements tools.Asker.
func (l later) Ask(ctx context.Context, _ tools.PermissionRequest) (tools.Answer, error) {
	select {
	case <-l:
		return tools.AllowOnce, nil
	case <-ctx.Done():
		return tools.Cancelled, ctx.Err()
	}
}

// checkAtRest checks that ended subagents keep nothing: their clocks are stopped and all slots
// are free.
func (b *harness) checkAtRest() {
	b.t.Helper()
	before := b.tree.Statements()
	time.Sleep(time.Hour)
	for i, now := range b.tree.Statements() {
		if now.Spent.Time != before[i].Spent.Time {
			b.t.Errorf("the time of %q runs on", now.Record.Prompt)
		}
	}
	for range 3 {
		if _, err := b.spawn(b.t.Context(), "general", "after all", true); err != nil {
			b.t.Error(err)
		}
	}
	synctest.Wait()
	if n := b.tree.ActiveCount(); n != 0 {
		b.t.Errorf("%d of 3 found no place", n)
	}
}

func (b *harness) startedCalls() []string {
	var ids []string
	for _, e := range b.all() {
		if _, e := unwrap(e); e != nil {
			if started, ok := e.(transcript.ToolStarted); ok {
				ids = append(ids, started.CallID)
			}
		}
	}
	return ids
}

// A subagent that is closed during Equip stays ended when Equip returns.
func TestCancel_DuringEquip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := newHarness(t, setup{script: scene("work", "Ended."), equip: func(*subagent.Node, *subagent.Equipment) error {
			<-release
			return nil
		}})
		if _, err := b.spawn(t.Context(), "general", "work", true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.tree.Abort()
		b.tree.WaitAll(t.Context())
		close(release)
		b.tree.Close()
		if r := b.records()["work"]; r.State != transcript.ChildCancelled || r.Model != "" {
			t.Errorf("the record says %s, model %q", r.State, r.Model)
		}
		b.checkEnds()
	})
}

// The user cancelled the subagents, so only the model gets a report about them, at any depth.
func TestCancel_IsNotReportedToTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan struct{}, 2), make(chan struct{})
		shown := 0
		var b *harness
		b = newHarness(t, setup{
			script: scene("outer", "Ended.", calls(task("general", "inner", true)), calls(call("hold"))) + scene("inner", "Ended.", calls(call("hold"))),
			tools:  []tools.Tool{held(started, release)},
			edit: func(o *subagent.Options) {
				o.Deliver = func(_ *transcript.Message, said string, _ <-chan struct{}) {
					b.mu.Lock()
					defer b.mu.Unlock()
					if b.delivered = append(b.delivered, ""); said != "" {
						shown++
					}
				}
			},
		})
		if _, err := b.spawn(t.Context(), "general", "outer", true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.tree.Abort()
		b.tree.WaitAll(t.Context())
		if n := len(b.reports()); n != 2 || shown != 0 {
			t.Errorf("%d reports, %d of them shown, want 2 that are not", n, shown)
		}
	})
}

// A subagent that was closed because it did not end releases its slot.
func TestCancel_StuckSubagentReleasesItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := newHarness(t, withStuckModel(setup{script: scene("work", "Worked."), edit: func(o *subagent.Options) { o.Running = 1 }}, release))
		if _, err := b.spawn(t.Context(), "stuck", "stuck", true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.tree.Abort()
		b.tree.WaitAll(t.Context())
		if _, err := b.spawn(t.Context(), "general", "work", true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if r := b.records()["work"]; r.Output != "Worked." {
			t.Errorf("the next one is %s", r.State)
		}
		close(release)
		b.tree.Close()
	})
}
