package v1

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/session"
	"acp-agent/transcript"
)

// quietSession is a session with facts that a test sets.
type quietSession struct {
	*translator
	*recorder
	level, standing sharedText
	ended           atomic.Bool
}

// sharedText is a value that the timer of a quiet reads while a test sets it.
type sharedText struct{ atomic.Value }

func (f *sharedText) text() string { return f.Load().(string) }

// The updates that carry its facts.
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

// newQuietSession is one whose first facts the client has, in a prompt that it has sent.
func newQuietSession(t *testing.T) *quietSession {
	q := &quietSession{recorder: &recorder{t: t, start: time.Now()}}
	q.level.Store("low")
	q.standing.Store("probing")
	q.translator = newTranslator(q.recorder, client{})
	q.session, q.mode = "ses_1", func() string { return "code" }
	q.options = func() []schema.SessionConfigOption {
		return []schema.SessionConfigOption{schema.SelectConfigOption{ID: "level", CurrentValue: schema.SessionConfigValueId(q.level.text()), Options: schema.SelectOptions{}}}
	}
	q.sandbox = func() map[string]any { return map[string]any{"sandbox": q.standing.text()} }
	q.slashes = func() []session.Command { return nil }
	q.over = func() bool { return q.ended.Load() }
	q.answering(q.current(optionsFact), q.current(sandboxFact), q.current(modeFact))
	q.prompted()
	q.Emit(transcript.TurnStarted{TurnID: "trn_1", MessageID: "msg_1"})
	return q
}

// answer ends the turn; a cancelled one begins a quiet, which runs once it is written.
func (q *quietSession) answer(cancelled bool) {
	q.Emit(transcript.TurnFinished{TurnID: "trn_1"})
	q.promptAnswered()
	if cancelled {
		q.beginQuiet()
	}
}

// R153, R158: what a session says of itself waits for quiet after an answer that cancelled,
// and is then said once, as it is by then, or with the next prompt. What the client asked for
// and what a subagent in the background does go out at once.
func TestQuiet(t *testing.T) {
	tests := []struct {
		name string
		run  func(q *quietSession)
		want []string
	}{
		{"an answer that did not cancel begins none", func(q *quietSession) {
			q.answer(false)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
		}, []string{optionsAt("high")}},
		{"nothing comes before the answer is written, however long that takes", func(q *quietSession) {
			q.answer(true)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			time.Sleep(time.Hour)
		}, nil},
		{"nothing comes for 2 s after it", func(q *quietSession) {
			q.answer(true)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			q.answerWritten()
			q.standing.Store("bubblewrap")
			q.Emit(transcript.SandboxFound{})
			q.Emit(transcript.TitleChanged{Title: "T", At: time.Unix(0, 0)})
			q.Emit(transcript.CommandsChanged{})
			time.Sleep(quietTime - time.Millisecond)
		}, nil},
		{"then each fact comes once, with its last value", func(q *quietSession) {
			q.answer(true)
			q.answerWritten()
			q.Emit(transcript.TitleChanged{Title: "T", At: time.Unix(0, 0)})
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			time.Sleep(time.Second)
			q.standing.Store("bubblewrap")
			q.level.Store("highest")
			q.Emit(transcript.SandboxFound{})
			q.Emit(transcript.ModeChanged{})
			q.Emit(transcript.CommandsChanged{})
			time.Sleep(quietTime - time.Second)
			synctest.Wait()
		}, []string{sandboxAt("bubblewrap"), optionsAt("highest"), noSlash, titled}},
		{"what is as before by then does not come", func(q *quietSession) {
			q.answer(true)
			q.answerWritten()
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			q.level.Store("low")
			time.Sleep(time.Minute)
		}, nil},
		{"after the quiet facts come at once", func(q *quietSession) {
			q.answer(true)
			q.answerWritten()
			time.Sleep(quietTime)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
		}, []string{optionsAt("high")}},
		{"the next prompt ends it", func(q *quietSession) {
			q.answer(true)
			q.answerWritten()
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
			q.prompted()
			q.Emit(transcript.TitleChanged{Title: "T", At: time.Unix(0, 0)})
		}, []string{optionsAt("high"), titled}},
		{"the next prompt ends it for good", func(q *quietSession) {
			q.answer(true)
			q.answerWritten()
			q.prompted()
			q.Emit(transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_2"})
			q.answer(false)
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
		}, []string{optionsAt("high")}},
		{"a queued prompt that is withdrawn leaves the running turn alone", func(q *quietSession) {
			q.prompted()
			q.promptAnswered()
			q.beginQuiet()
			q.answerWritten()
			q.level.Store("high")
			q.Emit(transcript.OptionsChanged{})
		}, []string{optionsAt("high")}},
		{"what the client sets comes at once", func(q *quietSession) {
			q.answer(true)
			q.answerWritten()
			q.level.Store("high")
			q.requested(modeFact, optionsFact)
			time.Sleep(time.Second)
		}, []string{optionsAt("high")}},
		{"the end of the session drops what waits", func(q *quietSession) {
			q.answer(true)
			q.answerWritten()
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
			q.prompted()
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

// A subagent in the background is shown while the session is quiet (R67, R68).
func TestQuiet_BackgroundGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQuietSession(t)
		child := delegate(q.Emit, "call_9", true, "explore")
		accepted(q.Emit, "call_9")
		q.answer(true)
		q.answerWritten()
		q.lines()
		q.level.Store("high")
		q.Emit(transcript.OptionsChanged{})
		q.Emit(transcript.ToolCard{CallID: "call_9", Content: []kinds.Content{kinds.Text{Text: "live"}}})
		settle(q.Emit, child, transcript.ChildDone)
		if got := q.lines(); len(got) != 2 {
			t.Errorf("updates of the subagent: %q", got)
		}
		time.Sleep(quietTime)
		synctest.Wait()
		if diff := cmp.Diff([]string{optionsAt("high")}, q.lines()); diff != "" {
			t.Errorf("after the quiet (-want +got):\n%s", diff)
		}
	})
}

// Nothing is sent that the client has already, by an update or by an answer.
func TestFact_SentWhenItChanges(t *testing.T) {
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
		q.requested(modeFact, optionsFact)
		if got := q.lines(); got != nil {
			t.Errorf("told again: %q", got)
		}
		q.optionSetting()
		q.level.Store("high")
		all()
		q.optionSettled(q.current(optionsFact))
		if got := q.lines(); got != nil {
			t.Errorf("told beside the answer that carries it: %q", got)
		}
		q.mode = func() string { return "ask" }
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

// What changes while an option is set is not told before the answer, which may be older, but
// after it.
func TestFact_ChangesBeforeTheAnswer(t *testing.T) {
	for _, carried := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			q := newQuietSession(t)
			q.optionSetting()
			q.level.Store("high")
			var answer []schema.SessionUpdate // none of a request that failed
			if carried {
				answer = append(answer, q.current(optionsFact))
			}
			q.level.Store("highest")
			q.Emit(transcript.OptionsChanged{})
			if got := q.lines(); got != nil {
				t.Errorf("before the answer: %q", got)
			}
			q.optionSettled(answer...)
			if diff := cmp.Diff([]string{optionsAt("highest")}, q.lines()); diff != "" {
				t.Errorf("after the answer (-want +got):\n%s", diff)
			}
		})
	}
}
