package v1

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// quietSession is a session whose state a test sets.
type quietSession struct {
	*translator
	*recorder
	view           *fakeView
	level, sandbox sharedText
	ended          atomic.Bool
}

// sharedText is a value that the timer of a quiet period reads while a test sets it.
type sharedText struct{ atomic.Value }

func (f *sharedText) text() string { return f.Load().(string) }

// The updates that carry its state.
func optionsAt(level string) string {
	return `{"sessionUpdate":"config_option_update","configOptions":[{"type":"select","id":"level","name":"","currentValue":"` + level + `","options":[]}]}`
}

func sandboxAt(kind string) string {
	return `{"sessionUpdate":"session_info_update","_meta":{"sandbox":"` + kind + `"}}`
}

const (
	titled  = `{"sessionUpdate":"session_info_update","title":"T","updatedAt":"1970-01-01T00:00:00Z"}`
	noSlash = `{"sessionUpdate":"available_commands_update","availableCommands":[]}`
)

// newQuietSession is a session in a prompt whose first state the client has.
func newQuietSession(t *testing.T) *quietSession {
	q := &quietSession{recorder: &recorder{t: t, start: time.Now()}}
	q.level.Store("low")
	q.sandbox.Store("probing")
	q.translator = newTranslator(q.recorder, client{})
	q.view = newFakeView()
	q.out.session, q.state.session = "ses_1", q.view
	q.view.options = func() []schema.SessionConfigOption {
		return []schema.SessionConfigOption{schema.SelectConfigOption{ID: "level", CurrentValue: schema.SessionConfigValueId(q.level.text()), Options: schema.SelectOptions{}}}
	}
	q.view.sandbox = func() map[string]any { return map[string]any{"sandbox": q.sandbox.text()} }
	q.view.over = func() bool { return q.ended.Load() }
	q.noteAnswer(q.state.current(optionsState), q.state.current(sandboxState), q.state.current(modeState))
	q.promptReceived()
	q.Emit(transcript.TurnStarted{TurnID: "trn_1", MessageID: "msg_1"})
	return q
}

// answer ends the turn. A cancelled one starts a quiet period, whose clock starts when the
// answer is written.
func (q *quietSession) answer(cancelled bool) {
	q.Emit(transcript.TurnFinished{TurnID: "trn_1"})
	q.promptAnswered()
	if cancelled {
		q.startQuiet()
	}
}

// R153, R158: after the answer of a cancelled turn, a change of state waits for the end of the
// quiet period or the next prompt, and is then sent once, with its last value. State that the
// client asked for and updates of a background subagent are sent at once.
func TestQuietPeriod(t *testing.T) {
	tests := []struct {
		name string
		run  func(q *quietSession)
		want []string
	}{
		{"an answer that did not cancel starts none", func(q *quietSession) {
			q.answer(false)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
		}, []string{optionsAt("high")}},
		{"nothing is sent before the answer is written, however long that takes", func(q *quietSession) {
			q.answer(true)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			time.Sleep(time.Hour)
		}, nil},
		{"nothing is sent for 2 s after it", func(q *quietSession) {
			q.answer(true)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			q.quietAnswerWritten()
			q.sandbox.Store("bubblewrap")
			q.Emit(transcript.SandboxFound{})
			q.Emit(transcript.TitleChanged{Title: "T", At: time.Unix(0, 0)})
			q.Emit(transcript.CommandsChanged{})
			time.Sleep(quietTime - time.Millisecond)
		}, nil},
		{"then each change is sent once, with its last value", func(q *quietSession) {
			q.answer(true)
			q.quietAnswerWritten()
			q.Emit(transcript.TitleChanged{Title: "T", At: time.Unix(0, 0)})
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			time.Sleep(time.Second)
			q.sandbox.Store("bubblewrap")
			q.level.Store("highest")
			q.Emit(transcript.SandboxFound{})
			q.Emit(transcript.ModeChanged{})
			q.Emit(transcript.CommandsChanged{})
			time.Sleep(quietTime - time.Second)
			synctest.Wait()
		}, []string{sandboxAt("bubblewrap"), optionsAt("highest"), noSlash, titled}},
		{"what is as before by then is not sent", func(q *quietSession) {
			q.answer(true)
			q.quietAnswerWritten()
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			q.level.Store("low")
			time.Sleep(time.Minute)
		}, nil},
		{"after the period changes are sent at once", func(q *quietSession) {
			q.answer(true)
			q.quietAnswerWritten()
			time.Sleep(quietTime)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
		}, []string{optionsAt("high")}},
		{"the next prompt ends it", func(q *quietSession) {
			q.answer(true)
			q.quietAnswerWritten()
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			q.promptReceived()
			q.Emit(transcript.TitleChanged{Title: "T", At: time.Unix(0, 0)})
		}, []string{optionsAt("high"), titled}},
		{"the next prompt ends it for good", func(q *quietSession) {
			q.answer(true)
			q.quietAnswerWritten()
			q.promptReceived()
			q.Emit(transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_2"})
			q.answer(false)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
		}, []string{optionsAt("high")}},
		{"a queued prompt that is withdrawn leaves the running turn alone", func(q *quietSession) {
			q.promptReceived()
			q.promptAnswered()
			q.startQuiet()
			q.quietAnswerWritten()
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
		}, []string{optionsAt("high")}},
		{"what the client sets is sent at once", func(q *quietSession) {
			q.answer(true)
			q.quietAnswerWritten()
			q.level.Store("high")
			q.sendRequested(modeState, optionsState)
			time.Sleep(time.Second)
		}, []string{optionsAt("high")}},
		{"the end of the session drops what waits", func(q *quietSession) {
			q.answer(true)
			q.quietAnswerWritten()
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			q.ended.Store(true)
			q.Emit(transcript.OptionsChanged{})
			q.stop()
			time.Sleep(time.Minute)
		}, nil},
		{"a notice outside a prompt waits for the next", func(q *quietSession) {
			q.answer(false)
			q.Emit(transcript.Notice{Severity: transcript.Warning, Text: "careful"})
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			q.promptReceived()
			q.Emit(transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_2"})
		}, []string{optionsAt("high"), quoted("careful")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQuietSession(t)
				test.run(q)
				if diff := cmp.Diff(test.want, q.lines()); diff != "" {
					t.Errorf("updates (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A background subagent is shown during the quiet period (R67, R68).
func TestQuietPeriod_BackgroundContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQuietSession(t)
		child := delegate(q.Emit, "call_9", true, "explore")
		accepted(q.Emit, "call_9")
		q.answer(true)
		q.quietAnswerWritten()
		q.lines()
		q.level.Store("high")
		q.Emit(transcript.OptionsChanged{})
		q.Emit(transcript.ToolCard{CallID: "call_9", Content: []kinds.Content{kinds.Text{Text: "live"}}})
		endChild(q.Emit, child, transcript.ChildDone)
		if got := q.lines(); len(got) != 2 {
			t.Errorf("updates of the subagent: %q", got)
		}
		time.Sleep(quietTime)
		synctest.Wait()
		if diff := cmp.Diff([]string{optionsAt("high")}, q.lines()); diff != "" {
			t.Errorf("after the quiet period (-want +got):\n%s", diff)
		}
	})
}

// No state is sent that the client has already, from an update or from an answer.
func TestState_SentWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQuietSession(t)
		plan := transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: "c", Priority: "high", Status: "pending"}}}
		all := func() {
			q.Emit(plan)
			q.Emit(transcript.ModeChanged{})
			q.Emit(transcript.OptionsChanged{})
			q.Emit(transcript.CommandsChanged{})
			q.Emit(transcript.SandboxFound{})
			q.Emit(transcript.TitleChanged{Title: "T", At: time.Unix(0, 0)})
		}
		all()
		const planned = `{"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]}`
		want := []string{planned, noSlash, titled}
		if diff := cmp.Diff(want, q.lines()); diff != "" {
			t.Errorf("what no answer has carried (-want +got):\n%s", diff)
		}
		time.Sleep(time.Second)
		all()
		q.Emit(transcript.TitleChanged{Title: "T", At: time.Unix(1, 0)})
		q.sendRequested(modeState, optionsState)
		if got := q.lines(); got != nil {
			t.Errorf("sent again: %q", got)
		}
		q.optionRequested()
		q.level.Store("high")
		all()
		q.optionAnswered(q.state.current(optionsState))
		if got := q.lines(); got != nil {
			t.Errorf("sent besides the answer that carries it: %q", got)
		}
		q.view.mode = func() string { return "ask" }
		all()
		if diff := cmp.Diff([]string{`{"sessionUpdate":"current_mode_update","currentModeId":"ask"}`}, q.lines()); diff != "" {
			t.Errorf("a change (-want +got):\n%s", diff)
		}
		q.Emit(transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_2"})
		all()
		if diff := cmp.Diff([]string{planned}, q.lines()); diff != "" {
			t.Errorf("in the next turn (-want +got):\n%s", diff)
		}
	})
}

// A change while an option is being set is sent after the answer, which may be older, and not
// before it.
func TestState_ChangesBeforeTheAnswer(t *testing.T) {
	for _, carried := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			q := newQuietSession(t)
			q.optionRequested()
			q.level.Store("high")
			var answer []schema.SessionUpdate // none if the request failed
			if carried {
				answer = append(answer, q.state.current(optionsState))
			}
			q.level.Store("highest")
			q.Emit(transcript.OptionsChanged{})
			if got := q.lines(); got != nil {
				t.Errorf("before the answer: %q", got)
			}
			q.optionAnswered(answer...)
			if diff := cmp.Diff([]string{optionsAt("highest")}, q.lines()); diff != "" {
				t.Errorf("after the answer (-want +got):\n%s", diff)
			}
		})
	}
}
