package subagent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/loop"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// An agent that reaches a limit returns its partial result with a note that names the limit;
// the parent's turn continues.
func TestBudget_ReturnsPartialResult(t *testing.T) {
	step := `{"say":"So far.","call":[{"name":"glob","args":{"filePattern":"*"}},{"name":"glob","args":{"filePattern":"*.go"}}],"usage":{"input":100,"output":20}}` + "\n"
	unreported := strings.ReplaceAll(step, `,"usage":{"input":100,"output":20}`, "")
	tests := []struct {
		name   string
		limits subagent.Limits
		script string
		note   string
		steps  int
		calls  int // that were run
	}{
		{"tokens", subagent.Limits{Tokens: 200}, strings.Repeat(step, 9), "its budget of 200 tokens is spent", 2, 4},
		{"tokens that the server does not count", subagent.Limits{Tokens: 100}, strings.Repeat(unreported, 9), "its budget of 100 tokens is spent", 0, 0},
		{"money", subagent.Limits{Cost: 0.3}, strings.Repeat(step, 9), "its budget of 0.3 in money is spent", 3, 6},
		{"tool calls", subagent.Limits{Calls: 3}, strings.Repeat(step, 9), "its budget of 3 tool calls is spent", 2, 3},
		{"no bound", subagent.Limits{}, step + `{"say":"Whole."}`, "", 2, 2},
	}
	for _, test := range tests {
		for _, whose := range []string{"tree", "manifest"} {
			t.Run(test.name+" of the "+whose, func(t *testing.T) {
				m := general()
				o := func(o *subagent.Options) {
					o.Price = func(string, transcript.Usage) float64 { return 0.1 }
					if whose == "tree" {
						o.Budget = test.limits
					}
				}
				if whose == "manifest" {
					m.Limits = test.limits
				}
				script := scene("go", "I go on.", calls(task("general", "child", false))) + strings.Replace(test.script, "{", `{"when":"^child$",`, 1)
				b := newHarness(t, setup{script: script, agents: agents{"general": m}, edit: o})
				if stop := b.turn(t.Context(), "go"); stop != loop.EndTurn {
					t.Errorf("the turn ended as %s", stop)
				}
				r := b.records()["child"]
				if r.State != transcript.ChildDone || test.note != "" != strings.Contains(r.Note, "it was stopped because ") || !strings.Contains(r.Note, test.note) {
					t.Errorf("%s with note %q, want %q", r.State, r.Note, test.note)
				}
				if test.note != "" && (r.Output != "So far." || !strings.Contains(b.lastResult(), test.note)) {
					t.Errorf("output %q; the model reads %q", r.Output, b.lastResult())
				}
				if s := b.tree.Statements()[0]; test.steps > 0 && (r.Steps != test.steps || s.Spent.Calls != test.calls) {
					t.Errorf("%d steps and %d calls, want %d and %d", r.Steps, s.Spent.Calls, test.steps, test.calls)
				}
				b.checkEnds()
			})
		}
	}
}

// What descendants spend counts once for each ancestor.
func TestBudget_SharedByTree(t *testing.T) {
	script := scene("go", "I go on.", calls(task("general", "outer", false))) +
		scene("outer", "Outer.", calls(task("general", "inner", false)), calls(task("general", "inner", false)), calls(task("general", "inner", false))) +
		scene("inner", "Inner.", calls(call("glob")))
	b := newHarness(t, setup{script: script, edit: func(o *subagent.Options) { o.Budget = subagent.Limits{Tokens: 100, FanOut: 2} }})
	b.turn(t.Context(), "go")
	list := b.tree.Statements()
	total := 0
	for _, s := range list {
		total += s.Record.Usage.Total()
	}
	if outer := list[0]; outer.Spent.Tokens != total || outer.Spent.Spawned != len(list)-1 || !strings.Contains(outer.Record.Note, "budget of 100 tokens is spent") {
		t.Errorf("the outer one spent %+v of %+v, note %q; all spent %d tokens", outer.Spent, outer.Limits, outer.Record.Note, total)
	}
	if total < 100 || total > 100+2*15 {
		t.Errorf("%d tokens of 100", total)
	}
	b.checkEnds()
}

func TestBudget_FanOut(t *testing.T) {
	b := newHarness(t, setup{
		script: scene("outer", "Outer.", calls(task("general", "inner", false), task("general", "inner", true), task("general", "inner", false))) + `{"say":"Outer."}` + "\n" + scene("inner", "Inner."),
		edit:   func(o *subagent.Options) { o.Budget.FanOut = 2 },
	})
	out, err := b.spawn(t.Context(), "general", "outer", false)
	if err != nil || len(b.tree.Records()) != 3 || out.Record.Output != "Outer." {
		t.Errorf("%d subagents, %q, %v", len(b.tree.Records()), out.Record.Output, err)
	}
	refused := 0
	for _, e := range b.all() {
		if _, e := unwrap(e); strings.Contains(endOf(e).Text, "its budget of 2 subagents is spent") {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d were refused, want 1", refused)
	}
	b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
}

// When the time is used up, running agents are stopped at any depth, also in the background.
// Waiting for a slot does not count.
func TestBudget_Time(t *testing.T) {
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprintf("background %v", background), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := make(chan struct{}, 10)
				script := scene("go", "I go on.", calls(task("general", "outer", false))) +
					scene("outer", "-", calls(task("general", "inner", background), call("hold"))) + scene("inner", "-", calls(call("hold")))
				b := newHarness(t, setup{script: script, tools: []tools.Tool{held(started, nil)}, edit: func(o *subagent.Options) { o.Budget.Time = time.Minute }})
				if stop := b.turn(t.Context(), "go"); stop != loop.EndTurn {
					t.Errorf("the turn ended as %s", stop)
				}
				b.await("end of all", func() bool { return b.tree.ActiveCount() == 0 })
				outer, inner := b.records()["outer"], b.records()["inner"]
				if outer.State != transcript.ChildDone || outer.Note != "it was stopped because its time of 1m0s is spent" {
					t.Errorf("the outer one is %s, note %q", outer.State, outer.Note)
				}
				if inner.State != transcript.ChildDone || inner.Note != "it was stopped because its time of 30s is spent" {
					t.Errorf("the inner one is %s, note %q", inner.State, inner.Note)
				}
				if took := outer.Ended.Sub(outer.Started).Round(time.Second); took != time.Minute {
					t.Errorf("it took %s", took)
				}
				b.checkEnds()
			})
		})
	}
	t.Run("queued", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			nap := named("nap", func(context.Context) error { time.Sleep(40 * time.Second); return nil })
			b := newHarness(t, setup{
				script: scene("work", "Rested.", calls(call("nap"))), tools: []tools.Tool{nap},
				edit: func(o *subagent.Options) { o.Running, o.Budget.Time = 1, time.Minute },
			})
			for range 3 {
				if _, err := b.spawn(t.Context(), "general", "work", true); err != nil {
					t.Fatal(err)
				}
			}
			b.tree.WaitAll(t.Context())
			for _, r := range b.tree.Records() {
				if r.Output != "Rested." || r.Note != "" {
					t.Errorf("%q, note %q", r.Output, r.Note)
				}
			}
		})
	})
	t.Run("the user thinks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newHarness(t, setup{
				script: scene("work", "Allowed.", calls(call("asked"))), asker: slow(time.Hour),
				tools: []tools.Tool{named("asked", func(context.Context) error { return nil })},
				edit:  func(o *subagent.Options) { o.Running, o.Budget.Time = 1, time.Minute },
			})
			for range 2 {
				if _, err := b.spawn(t.Context(), "general", "work", true); err != nil {
					t.Fatal(err)
				}
			}
			b.tree.WaitAll(t.Context())
			for _, r := range b.tree.Records() {
				if r.Output != "Allowed." || r.Note != "" {
					t.Errorf("%q, note %q", r.Output, r.Note)
				}
			}
		})
	})
}

// slow is a user who allows after a delay.
type slow time.Duration

// Ask implements tools.Asker.
func (s slow) Ask(context.Context, tools.PermissionRequest) (tools.Answer, error) {
	time.Sleep(time.Duration(s))
	return tools.AllowOnce, nil
}
