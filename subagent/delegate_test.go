package subagent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// R62, R70: the call that waited has the subagent's last message, what it did, and the
// files that it and those below it changed.
func TestSpawn_Blocking(t *testing.T) {
	write := map[string]any{"name": "write", "args": map[string]any{"path": "a.txt", "content": "x"}}
	b := newBench(t, setup{script: scene("go", "Done.", calls(task("general", "outer", false))) +
		scene("outer", "It is written.", calls(task("general", "inner", false))) + scene("inner", "a.txt", calls(write))})
	if stop := b.turn(t.Context(), "go"); stop != loop.EndTurn {
		t.Fatalf("the turn ended as %s", stop)
	}
	want := "It is written.\n\nFiles changed: a.txt\n\n(ended after 2 model calls and 1 tool call, 1 file changed, 30 tokens)"
	if got := b.lastResult(); got != want {
		t.Errorf("the model reads %q, want %q", got, want)
	}
	inner := b.records()["inner"]
	if diff := cmp.Diff([]string{"general", "general"}, inner.Path); diff != "" || inner.State != transcript.ChildDone {
		t.Errorf("the inner record is %s, path (-want +got):\n%s", inner.State, diff)
	}
	if inner.ParentID != b.records()["outer"].ID || inner.ParentMessageID == "" {
		t.Errorf("the inner record's parent is %q, message %q", inner.ParentID, inner.ParentMessageID)
	}
	b.checkEnds()
}

// R63, trap 48: who is not there, or is not to be delegated to, is an error that names
// those who are.
func TestSpawn_UnknownTypes(t *testing.T) {
	boss := general()
	boss.Name, boss.Mode = "boss", subagent.Primary
	both := general()
	both.Name, both.Mode = "both", subagent.All
	b := newBench(t, setup{script: `{"say":"hello"}`, agents: agents{"general": general(), "both": both, "boss": boss}})
	for _, name := range []string{"Explore", "boss", ""} {
		_, err := b.spawn(t.Context(), name, "x", false)
		wantError(t, err, tools.BadInput, fmt.Sprintf("unknown subagent type %q", name))
		wantError(t, err, tools.BadInput, "both, general")
	}
	if out, err := b.spawn(t.Context(), "both", "x", false); err != nil || out.Record.Output != "hello" {
		t.Errorf("one of both modes: %v, %v", out, err)
	}
	if n := len(b.family.Records()); n != 1 {
		t.Errorf("%d subagents, want only the last", n)
	}
}

// R65, trap 47: five levels are there, the sixth is an error, in the background too, and
// when the turn in which it all began is long over.
func TestSpawn_Depth(t *testing.T) {
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprintf("background %v", background), func(t *testing.T) {
			text := scene("go", "Begun.", calls(task("general", "level 1", background)))
			for i := 1; i <= 5; i++ {
				text += scene(fmt.Sprintf("level %d", i), "Ended.", calls(call("gate"), task("general", fmt.Sprintf("level %d", i+1), background)))
			}
			release := make(chan struct{})
			gate := named("gate", func(ctx context.Context) error {
				if background {
					<-release
				}
				return nil
			})
			b := newBench(t, setup{script: text, tools: []tools.Tool{gate}})
			b.turn(t.Context(), "go")
			close(release)
			b.await("end of all", func() bool { return b.family.Alive() == 0 })
			if n := len(b.family.Records()); n != 5 {
				t.Errorf("%d subagents, want 5", n)
			}
			refused := 0
			for _, e := range b.all() {
				if _, e := inner(e); endOf(e).State == transcript.Failed && strings.Contains(endOf(e).Text, "nested 5 deep at most") {
					refused++
				}
			}
			if refused != 1 {
				t.Errorf("%d calls were refused for their depth, want 1", refused)
			}
			b.checkEnds()
		})
	}
}

func endOf(e transcript.Event) transcript.ToolFinished {
	end, _ := e.(transcript.ToolFinished)
	return end
}

// I4: of twenty, eight run at once and the others wait; none is lost.
func TestSpawn_EightAtOnce(t *testing.T) {
	begun, release := make(chan struct{}, 20), make(chan struct{})
	b := newBench(t, setup{script: scene("work", "Worked.", calls(call("hold"))), tools: []tools.Tool{held(begun, release)}})
	for range 20 {
		if _, err := b.spawn(t.Context(), "general", "work", true); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 {
		<-begun
	}
	// All eight places are taken by calls that wait: whoever else began would be seen here.
	states := map[transcript.ChildState]int{}
	for _, r := range b.family.Records() {
		states[r.State]++
	}
	if diff := cmp.Diff(map[transcript.ChildState]int{transcript.ChildRunning: 8, transcript.ChildQueued: 12}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if len(begun) > 0 {
		t.Error("a ninth one runs")
	}
	close(release)
	b.await("end of all", func() bool { return b.family.Alive() == 0 })
	if n := len(b.told()); n != 20 {
		t.Errorf("%d reports, want 20", n)
	}
	b.checkEnds()
}

// An agent that waits for a subagent needs no place: one is enough for any depth, and for
// several at each level.
func TestSpawn_OnePlaceIsEnough(t *testing.T) {
	text := scene("go", "Done.", calls(task("general", "level 1", false), task("general", "level 1", false)))
	for i := 1; i < 5; i++ {
		next := fmt.Sprintf("level %d", i+1)
		text += scene(fmt.Sprintf("level %d", i), "Done.", calls(call("busy")), calls(task("general", next, false), task("general", next, false)), calls(call("busy")))
	}
	text += scene("level 5", "Done.", calls(call("busy")))
	var running atomic.Int32
	busy := named("busy", func(context.Context) error {
		defer running.Add(-1)
		if n := running.Add(1); n > 1 {
			return fmt.Errorf("%d run at once", n)
		}
		runtime.Gosched()
		return nil
	})
	b := newBench(t, setup{script: text, edit: func(o *subagent.Options) { o.Running = 1 }, tools: []tools.Tool{busy}})
	b.turn(t.Context(), "go")
	if n := len(b.family.Records()); n != 2+4+8+16+32 {
		t.Errorf("%d subagents, want 62", n)
	}
	for _, e := range b.all() {
		if _, e := inner(e); endOf(e).State == transcript.Failed {
			t.Error(endOf(e).Text)
		}
	}
	b.checkEnds()
}

// Eight that each delegate to eight all end, though there are eight places.
func TestSpawn_EightTimesEight(t *testing.T) {
	eight := func(prompt string) []map[string]any {
		var list []map[string]any
		for range 8 {
			list = append(list, task("general", prompt, false))
		}
		return list
	}
	b := newBench(t, setup{script: scene("go", "Done.", eight("outer")) + scene("outer", "Done.", eight("inner")) + scene("inner", "Done.")})
	b.turn(t.Context(), "go")
	if n := len(b.family.Records()); n != 8+64 {
		t.Errorf("%d subagents, want 72", n)
	}
	b.checkEnds()
}

// R67: what goes wrong in a subagent is an error of the call that waited, which names the
// cause, and the parent goes on.
func TestSpawn_Failures(t *testing.T) {
	tests := []struct {
		name, child string
		equip       func(*subagent.Node, *subagent.Equipment) error
		want        string
	}{
		{name: "the model fails", child: `{"when":"^child$","error":{"status":401,"message":"bad key"}}`, want: "bad key"},
		{name: "the model refuses", child: `{"when":"^child$","say":"No.","finish":"refusal"}`, want: "the model refused"},
		{
			name: "it cannot be equipped", child: scene("child", "Hello."), want: "no such variable",
			equip: func(*subagent.Node, *subagent.Equipment) error { return errors.New("no such variable") },
		},
		{
			name: "the host panics", child: scene("child", "Hello."), want: "failed inside the agent: oh",
			equip: func(*subagent.Node, *subagent.Equipment) error { panic("oh") },
		},
		{
			name: "the provider panics", child: scene("child", "Hello."), want: "failed inside the agent: ah",
			equip: func(_ *subagent.Node, e *subagent.Equipment) error { e.Provider = panicking{}; return nil },
		},
	}
	for _, test := range tests {
		for _, background := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, background %v", test.name, background), func(t *testing.T) {
				b := newBench(t, setup{script: scene("go", "I go on.", calls(task("general", "child", background))) + test.child, equip: test.equip})
				if stop := b.turn(t.Context(), "go"); stop != loop.EndTurn {
					t.Errorf("the parent's turn ended as %s", stop)
				}
				b.await("end of all", func() bool { return b.family.Alive() == 0 })
				got := b.lastResult()
				if background {
					got = strings.Join(b.told(), "\n")
					if !strings.Contains(got, "has failed") {
						t.Errorf("the report is %q", got)
					}
				}
				if !strings.Contains(got, test.want) {
					t.Errorf("the model reads %q, want %q", got, test.want)
				}
				if state := b.records()["child"].State; state != transcript.ChildFailed {
					t.Errorf("the record says %s", state)
				}
				b.checkEnds()
			})
		}
	}
}

type panicking struct{ model.Provider }

func (panicking) Describe(_ context.Context, id string) model.Info { return model.Info{ID: id} }

func (panicking) Stream(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		yield(model.Chunk{Kind: model.Text, Text: "half a"}, nil)
		panic("ah")
	}
}

// R66: at its cap of cycles a subagent returns what exists, with a note; what background
// subagents tell it does not give it more.
func TestSpawn_CycleCap(t *testing.T) {
	short := general()
	short.Limits.Cycles = 3
	read := `{"say":"So far: ${last_result}","call":[{"name":"glob","args":{"filePattern":"*"}}]}` + "\n"
	t.Run("of one turn", func(t *testing.T) {
		b := newBench(t, setup{agents: agents{"general": short}, script: `{"when":"^child$","say":"First.","call":[{"name":"glob","args":{"filePattern":"*"}}]}` + "\n" + read + read + read + read})
		out, err := b.spawn(t.Context(), "general", "child", false)
		if err != nil || out.Record.State != transcript.ChildDone || out.Record.Steps != 3 {
			t.Fatalf("got %+v, %v", out.Record, err)
		}
		if out.Record.Note != "it was stopped after 3 model calls" || !strings.HasPrefix(out.Record.Output, "So far:") {
			t.Errorf("note %q, output %q", out.Record.Note, out.Record.Output)
		}
	})
	t.Run("of all turns", func(t *testing.T) {
		text := scene("child", "Waiting.", calls(task("general", "deep", true)), calls(call("gate"))) + read + scene("deep", "Deep.")
		var b *bench
		gate := named("gate", func(context.Context) error {
			b.await("report", func() bool { return b.family.Alive() == 1 })
			return nil
		})
		b = newBench(t, setup{agents: agents{"general": short}, script: text, tools: []tools.Tool{gate}})
		out, err := b.spawn(t.Context(), "general", "child", false)
		if err != nil || out.Record.Steps != 3 || out.Record.Note != "it was stopped after 3 model calls" {
			t.Errorf("got %+v, %v", out.Record, err)
		}
		if told := b.told(); len(told) != 1 || !strings.Contains(told[0], "Deep.") {
			t.Errorf("the report that it could not hear any more went to nobody above: %q", told)
		}
	})
}

// R66: an answer that the token limit cut goes on, and its pieces are one message; a call
// that was cut is not run.
func TestSpawn_CutAnswersGoOn(t *testing.T) {
	ran := false
	touch := named("touch", func(context.Context) error { ran = true; return nil })
	text := `{"when":"^child$","call":[{"name":"touch","args":{}}],"finish":"length"}
{"say":"The answer ","finish":"length"}
{"say":"has three ","finish":"length"}
{"say":"pieces."}`
	b := newBench(t, setup{script: text, tools: []tools.Tool{touch}})
	out, err := b.spawn(t.Context(), "general", "child", false)
	if err != nil || out.Record.Output != "The answer has three pieces." || out.Record.Note != "" {
		t.Errorf("got %q, note %q, %v", out.Record.Output, out.Record.Note, err)
	}
	if ran {
		t.Error("a call that was cut was run")
	}
}

// R68: a report goes to the nearest agent above that listens: at the end of its turn,
// never into it; and past those that have ended.
func TestReport_NearestAboveThatListens(t *testing.T) {
	t.Run("the parent, behind its turn", func(t *testing.T) {
		var b *bench
		gate := named("gate", func(context.Context) error {
			b.await("end of the deep one", func() bool { return b.family.Alive() == 1 })
			return nil
		})
		text := scene("child", "Still at work.", calls(task("general", "deep", true)), calls(call("gate"))) +
			`{"expect":{"told":"general > general"},"say":"I was told."}` + "\n" + scene("deep", "Deep.")
		b = newBench(t, setup{script: text, tools: []tools.Tool{gate}})
		out, err := b.spawn(t.Context(), "general", "child", false)
		if err != nil || out.Record.Output != "I was told." {
			t.Errorf("got %q, note %q, %v", out.Record.Output, out.Record.Note, err)
		}
		if told := b.told(); len(told) > 0 {
			t.Errorf("the main agent was told %q", told)
		}
		b.checkEnds()
	})
	t.Run("the main agent, when the parent has ended", func(t *testing.T) {
		begun, release := make(chan struct{}, 1), make(chan struct{})
		text := scene("child", "Begun.", calls(task("general", "deep", true))) + scene("deep", "Deep.", calls(call("hold")))
		b := newBench(t, setup{script: text, tools: []tools.Tool{held(begun, release)}})
		if _, err := b.spawn(t.Context(), "general", "child", false); err != nil {
			t.Fatal(err)
		}
		<-begun
		close(release)
		b.await("end of all", func() bool { return b.family.Alive() == 0 })
		told := b.told()
		if len(told) != 1 || !strings.Contains(told[0], "general > general") || !strings.Contains(told[0], "Deep.") {
			t.Errorf("the main agent was told %q", told)
		}
		b.checkEnds()
	})
	t.Run("the main agent, when the parent was stopped before it could listen", func(t *testing.T) {
		short := general()
		short.Name, short.Limits.Cycles = "short", 2
		var b *bench
		gate := named("gate", func(context.Context) error {
			b.await("end of the deep one", func() bool { return b.family.Alive() == 1 })
			return nil
		})
		text := scene("child", "-", calls(task("general", "deep", true)), calls(call("gate")), calls(call("gate"))) + scene("deep", "Deep.")
		b = newBench(t, setup{script: text, agents: agents{"general": general(), "short": short}, tools: []tools.Tool{gate}})
		if _, err := b.spawn(t.Context(), "short", "child", false); err != nil {
			t.Fatal(err)
		}
		if told := b.told(); len(told) != 1 || !strings.Contains(told[0], "Deep.") {
			t.Errorf("the main agent was told %q", told)
		}
	})
}

// A call that is cancelled while the person is asked gives its agent's place away for no
// longer than until the next model call.
func TestSpawn_CancelledQuestionTakesThePlaceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, release := make(chan struct{}, 1), make(chan struct{})
		b := newBench(t, setup{
			script: scene("ask", "Not asked.", calls(call("asked"))) + scene("work", "Worked.", calls(call("hold"))),
			tools:  []tools.Tool{held(begun, release), named("asked", func(context.Context) error { return nil })},
			asker:  nobody{}, edit: func(o *subagent.Options) { o.Running = 1 },
		})
		for _, prompt := range []string{"ask", "work"} {
			if _, err := b.spawn(t.Context(), "general", prompt, true); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		<-begun
		for _, e := range b.all() {
			if _, e := inner(e); waitsForPerson(e) && !b.family.CancelCall(e.(transcript.ToolState).CallID) {
				t.Error("the call was not there")
			}
		}
		synctest.Wait()
		if r := b.records()["ask"]; r.State != transcript.ChildRunning || r.Steps != 1 {
			t.Errorf("beside the one that has the only place, the other is %s after %d model calls", r.State, r.Steps)
		}
		close(release)
		b.family.Quiet(t.Context())
		if r := b.records()["ask"]; r.Output != "Not asked." {
			t.Errorf("it said %q", r.Output)
		}
		b.checkEnds()
	})
}

// waitsForPerson reports whether a call begins to wait for the person.
func waitsForPerson(e transcript.Event) bool {
	state, ok := e.(transcript.ToolState)
	return ok && state.State == transcript.BlockedOnUser
}

// nobody never answers.
type nobody struct{}

// Ask implements tools.Asker.
func (nobody) Ask(ctx context.Context, _ tools.PermissionRequest) (tools.Answer, error) {
	<-ctx.Done()
	return tools.Cancelled, ctx.Err()
}

// R70: of a subagent that failed, or that the person stopped, the model that waited reads
// what it had done by then.
func TestSpawn_WhatWasDoneBeforeItFailed(t *testing.T) {
	write := map[string]any{"name": "write", "args": map[string]any{"path": "a.txt", "content": "x"}}
	for name, last := range map[string]string{"its model fails": `{"error":{"status":401,"message":"bad key"}}`, "it is stopped": `{"wait":"for the person"}`} {
		t.Run(name, func(t *testing.T) {
			text, _, _ := strings.Cut(scene("child", "-", calls(write)), "\n")
			b := newBench(t, setup{script: scene("go", "I go on.", calls(task("general", "child", false))) + text + "\n" + last + "\n"})
			b.onEvent = func(_ int, e transcript.Event) {
				if _, e := inner(e); endOf(e).State == transcript.Done && name == "it is stopped" {
					b.family.Stop(b.records()["child"].ID)
				}
			}
			b.turn(t.Context(), "go")
			if got := b.lastResult(); !strings.Contains(got, "Files changed: a.txt") {
				t.Errorf("the model reads %q", got)
			}
			b.checkEnds()
		})
	}
}

// I4: those that have not ended are bounded, whoever spawns them; when one has ended,
// there is room again.
func TestSpawn_SoManyAtOnce(t *testing.T) {
	begun, release := make(chan struct{}, 300), make(chan struct{})
	b := newBench(t, setup{script: scene("work", "Worked.", calls(call("hold"))), tools: []tools.Tool{held(begun, release)}})
	var err error
	started := 0
	for ; err == nil && started < 300; started++ {
		_, err = b.spawn(t.Context(), "general", "work", true)
	}
	if err == nil || !strings.Contains(err.Error(), "200 of this session have not ended") {
		t.Errorf("%d were started, and then %v", started, err)
	}
	close(release)
	b.await("end of all", func() bool { return b.family.Alive() == 0 })
	if _, err := b.spawn(t.Context(), "general", "work", false); err != nil {
		t.Errorf("one more, when all have ended: %v", err)
	}
	b.checkEnds()
}

// Several calls of an agent that wait for its place are served by one.
func TestSpawn_OnePlaceIsEnoughForTheCallsOfAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, release := make(chan struct{}, 1), make(chan struct{})
		agent := make(chan *subagent.Node, 2)
		answered := map[string]chan struct{}{"early": make(chan struct{}), "late": make(chan struct{})}
		early := named("early", func(ctx context.Context) error {
			n := <-agent
			agent <- n
			over := n.Await(ctx)
			<-answered["early"]
			over()
			return nil
		})
		late := named("late", func(ctx context.Context) error {
			n := <-agent
			agent <- n
			<-answered["late"]
			n.Await(ctx)()
			return nil
		})
		b := newBench(t, setup{
			script: scene("ask", "Asked.", calls(call("early"), call("late"))) + scene("work", "Worked.", calls(call("hold"))),
			tools:  []tools.Tool{held(begun, release), early, late}, edit: func(o *subagent.Options) { o.Running = 1 },
			equip: func(n *subagent.Node, _ *subagent.Equipment) error {
				if len(agent) == 0 {
					agent <- n
				}
				return nil
			},
		})
		for _, prompt := range []string{"ask", "work"} {
			if _, err := b.spawn(t.Context(), "general", prompt, true); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		<-begun
		for _, name := range []string{"early", "late"} {
			close(answered[name])
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		if r := b.records()["ask"]; r.Output != "Asked." {
			t.Errorf("the agent whose calls both wait is %s after %d tool calls", r.State, r.Calls)
		}
		b.checkEnds()
	})
}
