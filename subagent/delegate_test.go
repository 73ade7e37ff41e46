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

// R62, R70: the result of a blocking call has the subagent's last message, a summary, and the
// files that it and its descendants changed.
func TestSpawn_Blocking(t *testing.T) {
	write := map[string]any{"name": "write", "args": map[string]any{"path": "a.txt", "content": "x"}}
	b := newHarness(t, setup{script: scene("go", "Done.", calls(task("general", "outer", false))) +
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

// R63: an unknown type, or one that accepts no delegation, is an error that names the valid
// types.
func TestSpawn_UnknownTypes(t *testing.T) {
	boss := general()
	boss.Name, boss.Mode = "boss", subagent.Primary
	both := general()
	both.Name, both.Mode = "both", subagent.All
	b := newHarness(t, setup{script: `{"say":"hello"}`, agents: agents{"general": general(), "both": both, "boss": boss}})
	for _, name := range []string{"Explore", "boss", ""} {
		_, err := b.spawn(t.Context(), name, "x", false)
		wantError(t, err, tools.BadInput, fmt.Sprintf("unknown subagent type %q", name))
		wantError(t, err, tools.BadInput, "both, general")
	}
	if out, err := b.spawn(t.Context(), "both", "x", false); err != nil || out.Record.Output != "hello" {
		t.Errorf("one of both modes: %v, %v", out, err)
	}
	if n := len(b.tree.Records()); n != 1 {
		t.Errorf("%d subagents, want only the last", n)
	}
}

// R65: five levels work and the sixth is an error, also in the background and after the turn
// that started them.
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
			b := newHarness(t, setup{script: text, tools: []tools.Tool{gate}})
			b.turn(t.Context(), "go")
			close(release)
			b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
			if n := len(b.tree.Records()); n != 5 {
				t.Errorf("%d subagents, want 5", n)
			}
			refused := 0
			for _, e := range b.all() {
				if _, e := unwrap(e); endOf(e).State == transcript.Failed && strings.Contains(endOf(e).Text, "nested 5 deep at most") {
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

// Of twenty subagents eight run at once and the others wait; all of them finish.
func TestSpawn_EightAtOnce(t *testing.T) {
	started, release := make(chan struct{}, 20), make(chan struct{})
	b := newHarness(t, setup{script: scene("work", "Worked.", calls(call("hold"))), tools: []tools.Tool{held(started, release)}})
	for range 20 {
		if _, err := b.spawn(t.Context(), "general", "work", true); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 {
		<-started
	}
	// All eight slots are taken by calls that wait: another start would be seen here.
	states := map[transcript.ChildState]int{}
	for _, r := range b.tree.Records() {
		states[r.State]++
	}
	if diff := cmp.Diff(map[transcript.ChildState]int{transcript.ChildRunning: 8, transcript.ChildQueued: 12}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if len(started) > 0 {
		t.Error("a ninth one runs")
	}
	close(release)
	b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
	if n := len(b.reports()); n != 20 {
		t.Errorf("%d reports, want 20", n)
	}
	b.checkEnds()
}

// A waiting agent needs no slot: one slot suffices for any depth, and for several agents on
// each level.
func TestSpawn_OneSlotSuffices(t *testing.T) {
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
	b := newHarness(t, setup{script: text, edit: func(o *subagent.Options) { o.Running = 1 }, tools: []tools.Tool{busy}})
	b.turn(t.Context(), "go")
	if n := len(b.tree.Records()); n != 2+4+8+16+32 {
		t.Errorf("%d subagents, want 62", n)
	}
	for _, e := range b.all() {
		if _, e := unwrap(e); endOf(e).State == transcript.Failed {
			t.Error(endOf(e).Text)
		}
	}
	b.checkEnds()
}

// Eight agents that each delegate to eight all finish with eight slots.
func TestSpawn_EightTimesEight(t *testing.T) {
	eight := func(prompt string) []map[string]any {
		var list []map[string]any
		for range 8 {
			list = append(list, task("general", prompt, false))
		}
		return list
	}
	b := newHarness(t, setup{script: scene("go", "Done.", eight("outer")) + scene("outer", "Done.", eight("inner")) + scene("inner", "Done.")})
	b.turn(t.Context(), "go")
	if n := len(b.tree.Records()); n != 8+64 {
		t.Errorf("%d subagents, want 72", n)
	}
	b.checkEnds()
}

// R67: a failure in a subagent is an error of the waiting call that names the cause, and the
// parent continues.
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
				b := newHarness(t, setup{script: scene("go", "I go on.", calls(task("general", "child", background))) + test.child, equip: test.equip})
				if stop := b.turn(t.Context(), "go"); stop != loop.EndTurn {
					t.Errorf("the parent's turn ended as %s", stop)
				}
				b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
				got := b.lastResult()
				if background {
					got = strings.Join(b.reports(), "\n")
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

// R66: at its limit of cycles a subagent returns its partial result with a note. Reports of
// background subagents do not raise the limit.
func TestSpawn_CycleCap(t *testing.T) {
	short := general()
	short.Limits.Cycles = 3
	read := `{"say":"So far: ${last_result}","call":[{"name":"glob","args":{"filePattern":"*"}}]}` + "\n"
	t.Run("of one turn", func(t *testing.T) {
		b := newHarness(t, setup{agents: agents{"general": short}, script: `{"when":"^child$","say":"First.","call":[{"name":"glob","args":{"filePattern":"*"}}]}` + "\n" + read + read + read + read})
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
		var b *harness
		gate := named("gate", func(context.Context) error {
			b.await("report", func() bool { return b.tree.ActiveCount() == 1 })
			return nil
		})
		b = newHarness(t, setup{agents: agents{"general": short}, script: text, tools: []tools.Tool{gate}})
		out, err := b.spawn(t.Context(), "general", "child", false)
		if err != nil || out.Record.Steps != 3 || out.Record.Note != "it was stopped after 3 model calls" {
			t.Errorf("got %+v, %v", out.Record, err)
		}
		if told := b.reports(); len(told) != 1 || !strings.Contains(told[0], "Deep.") {
			t.Errorf("the report that came after its end was not delivered: %q", told)
		}
	})
}

// R66: an answer that the token limit cut is continued, and its pieces are one message. A call
// that was cut does not run.
func TestSpawn_ContinuesCutAnswers(t *testing.T) {
	ran := false
	touch := named("touch", func(context.Context) error { ran = true; return nil })
	text := `{"when":"^child$","call":[{"name":"touch","args":{}}],"finish":"length"}
{"say":"The answer ","finish":"length"}
{"say":"has three ","finish":"length"}
{"say":"pieces."}`
	b := newHarness(t, setup{script: text, tools: []tools.Tool{touch}})
	out, err := b.spawn(t.Context(), "general", "child", false)
	if err != nil || out.Record.Output != "The answer has three pieces." || out.Record.Note != "" {
		t.Errorf("got %q, note %q, %v", out.Record.Output, out.Record.Note, err)
	}
	if ran {
		t.Error("a call that was cut was run")
	}
}

// R68: a report goes to the nearest ancestor with an open inbox, and is read at the end of that
// agent's turn, never during it.
func TestReport_GoesToNearestOpenInbox(t *testing.T) {
	t.Run("the parent, after its turn", func(t *testing.T) {
		var b *harness
		gate := named("gate", func(context.Context) error {
			b.await("end of the deep one", func() bool { return b.tree.ActiveCount() == 1 })
			return nil
		})
		text := scene("child", "Still at work.", calls(task("general", "deep", true)), calls(call("gate"))) +
			`{"expect":{"told":"general > general"},"say":"I was told."}` + "\n" + scene("deep", "Deep.")
		b = newHarness(t, setup{script: text, tools: []tools.Tool{gate}})
		out, err := b.spawn(t.Context(), "general", "child", false)
		if err != nil || out.Record.Output != "I was told." {
			t.Errorf("got %q, note %q, %v", out.Record.Output, out.Record.Note, err)
		}
		if told := b.reports(); len(told) > 0 {
			t.Errorf("the main agent was told %q", told)
		}
		b.checkEnds()
	})
	t.Run("the main agent, when the parent has ended", func(t *testing.T) {
		started, release := make(chan struct{}, 1), make(chan struct{})
		text := scene("child", "Begun.", calls(task("general", "deep", true))) + scene("deep", "Deep.", calls(call("hold")))
		b := newHarness(t, setup{script: text, tools: []tools.Tool{held(started, release)}})
		if _, err := b.spawn(t.Context(), "general", "child", false); err != nil {
			t.Fatal(err)
		}
		<-started
		close(release)
		b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
		told := b.reports()
		if len(told) != 1 || !strings.Contains(told[0], "general > general") || !strings.Contains(told[0], "Deep.") {
			t.Errorf("the main agent was told %q", told)
		}
		b.checkEnds()
	})
	t.Run("the main agent, when the parent was stopped before it could listen", func(t *testing.T) {
		short := general()
		short.Name, short.Limits.Cycles = "short", 2
		var b *harness
		gate := named("gate", func(context.Context) error {
			b.await("end of the deep one", func() bool { return b.tree.ActiveCount() == 1 })
			return nil
		})
		text := scene("child", "-", calls(task("general", "deep", true)), calls(call("gate")), calls(call("gate"))) + scene("deep", "Deep.")
		b = newHarness(t, setup{script: text, agents: agents{"general": general(), "short": short}, tools: []tools.Tool{gate}})
		if _, err := b.spawn(t.Context(), "short", "child", false); err != nil {
			t.Fatal(err)
		}
		if told := b.reports(); len(told) != 1 || !strings.Contains(told[0], "Deep.") {
			t.Errorf("the main agent was told %q", told)
		}
	})
}

// After a call is cancelled while it waits for the user, its agent acquires a slot again before
// the next model call.
func TestSpawn_ReacquiresSlotAfterCancelledQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan struct{}, 1), make(chan struct{})
		b := newHarness(t, setup{
			script: scene("ask", "Not asked.", calls(call("asked"))) + scene("work", "Worked.", calls(call("hold"))),
			tools:  []tools.Tool{held(started, release), named("asked", func(context.Context) error { return nil })},
			asker:  silentUser{}, edit: func(o *subagent.Options) { o.Running = 1 },
		})
		for _, prompt := range []string{"ask", "work"} {
			if _, err := b.spawn(t.Context(), "general", prompt, true); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		<-started
		for _, e := range b.all() {
			if _, e := unwrap(e); blocksOnUser(e) && !b.tree.CancelCall(e.(transcript.ToolState).CallID) {
				t.Error("the call was not there")
			}
		}
		synctest.Wait()
		if r := b.records()["ask"]; r.State != transcript.ChildRunning || r.Steps != 1 {
			t.Errorf("beside the one that has the only place, the other is %s after %d model calls", r.State, r.Steps)
		}
		close(release)
		b.tree.WaitAll(t.Context())
		if r := b.records()["ask"]; r.Output != "Not asked." {
			t.Errorf("it said %q", r.Output)
		}
		b.checkEnds()
	})
}

// blocksOnUser reports whether a call starts to wait for the user.
func blocksOnUser(e transcript.Event) bool {
	state, ok := e.(transcript.ToolState)
	return ok && state.State == transcript.BlockedOnUser
}

type silentUser struct{}

// Ask implements tools.Asker.
func (silentUser) Ask(ctx context.Context, _ tools.PermissionRequest) (tools.Answer, error) {
	<-ctx.Done()
	return tools.Cancelled, ctx.Err()
}

// R70: the result of a failed or stopped subagent says what it had done until then.
func TestSpawn_FailureListsWorkDone(t *testing.T) {
	write := map[string]any{"name": "write", "args": map[string]any{"path": "a.txt", "content": "x"}}
	for name, last := range map[string]string{"its model fails": `{"error":{"status":401,"message":"bad key"}}`, "it is stopped": `{"wait":"for the user"}`} {
		t.Run(name, func(t *testing.T) {
			text, _, _ := strings.Cut(scene("child", "-", calls(write)), "\n")
			b := newHarness(t, setup{script: scene("go", "I go on.", calls(task("general", "child", false))) + text + "\n" + last + "\n"})
			b.onEvent = func(_ int, e transcript.Event) {
				if _, e := unwrap(e); endOf(e).State == transcript.Done && name == "it is stopped" {
					b.tree.Stop(b.records()["child"].ID)
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

// The number of active subagents is bounded at all levels together; the end of one makes room
// for another.
func TestSpawn_MaxActive(t *testing.T) {
	started, release := make(chan struct{}, 300), make(chan struct{})
	b := newHarness(t, setup{script: scene("work", "Worked.", calls(call("hold"))), tools: []tools.Tool{held(started, release)}})
	var err error
	count := 0
	for ; err == nil && count < 300; count++ {
		_, err = b.spawn(t.Context(), "general", "work", true)
	}
	if err == nil || !strings.Contains(err.Error(), "200 of this session have not ended") {
		t.Errorf("%d were count, and then %v", count, err)
	}
	close(release)
	b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
	if _, err := b.spawn(t.Context(), "general", "work", false); err != nil {
		t.Errorf("one more, when all have ended: %v", err)
	}
	b.checkEnds()
}

// Several calls of an agent that wait for its slot share one.
func TestSpawn_CallsShareOneSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan struct{}, 1), make(chan struct{})
		agent := make(chan *subagent.Node, 2)
		answered := map[string]chan struct{}{"early": make(chan struct{}), "late": make(chan struct{})}
		early := named("early", func(ctx context.Context) error {
			n := <-agent
			agent <- n
			over := n.WaitForUser(ctx)
			<-answered["early"]
			over()
			return nil
		})
		late := named("late", func(ctx context.Context) error {
			n := <-agent
			agent <- n
			<-answered["late"]
			n.WaitForUser(ctx)()
			return nil
		})
		b := newHarness(t, setup{
			script: scene("ask", "Asked.", calls(call("early"), call("late"))) + scene("work", "Worked.", calls(call("hold"))),
			tools:  []tools.Tool{held(started, release), early, late}, edit: func(o *subagent.Options) { o.Running = 1 },
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
		<-started
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
