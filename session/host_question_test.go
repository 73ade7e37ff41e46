package session

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/capability"
	"acp-agent/internal/record"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// replyingAsker is a user who answers what comes over its channel, and nothing before.
type replyingAsker chan tools.Answer

func (a replyingAsker) Ask(ctx context.Context, _ tools.PermissionRequest) (tools.Answer, error) {
	select {
	case answer := <-a:
		return answer, nil
	case <-ctx.Done():
		return tools.RejectOnce, ctx.Err()
	}
}

// hostAsking is a question about a host that is asked.
type hostAsking struct {
	*hostQuestions
	user  replyingAsker
	kept  *[]tools.Answer
	shown *[]transcript.Event
	ended chan error // receives how ask ended
	got   tools.Answer
}

func askAboutHost(ctx context.Context, limit time.Duration) *hostAsking {
	a := newHostAsking(limit)
	a.reach(ctx)
	return a
}

func newHostAsking(limit time.Duration) *hostAsking {
	c, shown := newTestConversation()
	a := &hostAsking{user: make(replyingAsker), kept: new([]tools.Answer), shown: shown, ended: make(chan error, 1)}
	a.hostQuestions = &hostQuestions{
		conversation: c, asker: a.user, queue: tools.NewQuestionQueue(), limit: limit,
		keep: func(answer tools.Answer, _ []permissions.Rule) { *a.kept = append(*a.kept, answer) },
	}
	return a
}

// reach has a server reach for the host.
func (a *hostAsking) reach(ctx context.Context) {
	rule := permissions.Rule{Permission: permissions.NetworkTool, Pattern: "a.example", Action: capability.Allow}
	go func() {
		var err error
		a.got, err = a.ask(ctx, hostQuestion{Title: "Connect to a.example for the MCP server s", Rules: []permissions.Rule{rule}})
		a.ended <- err
	}()
}

// states are how the cards that were shown ended.
func (a *hostAsking) states() (states []transcript.State) {
	for _, e := range *a.shown {
		if end, ok := e.(transcript.ToolFinished); ok {
			states = append(states, end.State)
		}
	}
	return states
}

// A question about a host comes with the next turn, which does not end before the answer.
func TestHostQuestions_InTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askAboutHost(t.Context(), time.Minute)
		time.Sleep(time.Hour)
		if len(*a.shown) > 0 {
			t.Fatalf("without a turn the user was shown %v", *a.shown)
		}
		turn := a.turnStarted(t.Context())
		waited := make(chan bool, 1)
		synctest.Wait()
		go func() { turn.awaitAnswers(); waited <- true }()
		synctest.Wait()
		select {
		case <-waited:
			t.Fatal("the turn did not wait for the answer")
		default:
		}
		a.user <- tools.AllowAlways
		if err := <-a.ended; err != nil || a.got != tools.AllowAlways || !slices.Equal(*a.kept, []tools.Answer{tools.AllowAlways}) {
			t.Errorf("the answer is %v, %v, and %v was kept", a.got, err, *a.kept)
		}
		<-waited
		turn.end()
		if got := a.states(); !slices.Equal(got, []transcript.State{transcript.Done}) {
			t.Errorf("the card ended as %v", got)
		}
	})
}

// The end of a turn withdraws the question, and the next turn asks it again.
func TestHostQuestions_AskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askAboutHost(t.Context(), 0)
		ctx, cancel := context.WithCancel(t.Context())
		turn := a.turnStarted(ctx)
		synctest.Wait()
		cancel()
		turn.awaitAnswers() // does not wait: the turn is cancelled
		turn.end()
		if got := a.states(); !slices.Equal(got, []transcript.State{transcript.Cancelled}) {
			t.Fatalf("the card of the first turn ended as %v", got)
		}
		defer a.turnStarted(t.Context()).end()
		a.user <- tools.RejectOnce
		if err := <-a.ended; err != nil || a.got != tools.RejectOnce || len(*a.kept) > 0 {
			t.Errorf("the answer is %v, %v, and %v was kept", a.got, err, *a.kept)
		}
	})
}

// A turn whose questions are answered takes no more, so that none is open at its last event, unless it goes on.
func TestHostQuestions_NoneAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHostAsking(0)
		turn := a.turnStarted(t.Context())
		turn.awaitAnswers()
		a.reach(t.Context())
		synctest.Wait()
		if len(*a.shown) > 0 {
			t.Fatalf("at the end of the turn the user was shown %v", *a.shown)
		}
		turn.resume()
		synctest.Wait()
		if len(*a.shown) == 0 {
			t.Fatal("the user was not asked when the turn went on")
		}
		turn.end()
		if got := a.states(); !slices.Equal(got, []transcript.State{transcript.Cancelled}) {
			t.Errorf("at the end of the turn the card ended as %v", got)
		}
		defer a.turnStarted(t.Context()).end()
		a.user <- tools.AllowOnce
		if err := <-a.ended; err != nil || a.got != tools.AllowOnce {
			t.Errorf("the answer is %v, %v", a.got, err)
		}
	})
}

// A question ends without an answer after its time, and with the session.
func TestHostQuestions_NoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askAboutHost(t.Context(), time.Minute)
		defer a.turnStarted(t.Context()).end()
		if err := <-a.ended; !errors.Is(err, errNoHostAnswer) {
			t.Errorf("it ended with %v", err)
		}
		session, end := context.WithCancelCause(t.Context())
		waiting := askAboutHost(session, time.Minute)
		synctest.Wait()
		end(ErrClosed)
		if err := <-waiting.ended; !errors.Is(err, ErrClosed) {
			t.Errorf("the end of the session ended it with %v", err)
		}
	})
}

// A question that waits behind others for longer than its time was not answered with no, and one that
// comes just as the turn ends shows no card after it.
func TestHostQuestions_NotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, shown := newTestConversation()
		q := &hostQuestions{conversation: c, asker: make(replyingAsker), queue: tools.NewQuestionQueue(), limit: time.Minute}
		_, leave, err := q.queue.Enter(t.Context(), "call_other")
		if err != nil {
			t.Fatal(err)
		}
		turn := q.turnStarted(t.Context())
		answer, err := q.ask(t.Context(), hostQuestion{})
		if answer != tools.Cancelled || !errors.Is(err, errNoHostAnswer) {
			t.Errorf("behind another question the answer is %v, %v", answer, err)
		}
		leave()
		turn.end()
		if answer, err := q.put(turn.ctx, hostQuestion{}); answer != tools.Cancelled || err == nil {
			t.Errorf("after the turn the answer is %v, %v", answer, err)
		}
		if len(*shown) > 0 {
			t.Errorf("the user was shown %v", *shown)
		}
	})
}

// A replay shows a question as withdrawn where the recording has that, although the user's answer came just before.
func TestHostQuestions_WithdrawnInReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := record.NewPlayer(&record.Recording{Entries: []record.Entry{
			{Kind: record.In, Data: []byte(`{}`)},
			{Kind: record.Looked, Name: "question over", Key: "ses_1", Data: []byte(`true`)},
		}})
		a := newHostAsking(0)
		a.recorded = &recordedPerson{tape: record.PlayFrom(p), session: "ses_1"}
		defer a.turnStarted(t.Context()).end()
		a.reach(t.Context())
		a.user <- tools.AllowAlways
		synctest.Wait()
		if got := a.states(); len(got) > 0 {
			t.Errorf("before its place in the recording the question ended as %v", got)
		}
		p.Finish(0)
		<-a.ended
		if got := a.states(); !slices.Equal(got, []transcript.State{transcript.Cancelled}) || len(*a.kept) > 0 {
			t.Errorf("the card ended as %v, and %v was kept", got, *a.kept)
		}
	})
}
