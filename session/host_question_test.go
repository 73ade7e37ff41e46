package session

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/capability"
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
	c, shown := newTestConversation()
	a := &hostAsking{user: make(replyingAsker), kept: new([]tools.Answer), shown: shown, ended: make(chan error, 1)}
	a.hostQuestions = &hostQuestions{
		conversation: c, asker: a.user, queue: tools.NewQuestionQueue(), limit: limit,
		keep: func(answer tools.Answer, _ []permissions.Rule) { *a.kept = append(*a.kept, answer) },
	}
	rule := permissions.Rule{Permission: permissions.NetworkTool, Pattern: "a.example", Action: capability.Allow}
	go func() {
		var err error
		a.got, err = a.ask(ctx, hostQuestion{Title: "Connect to a.example for the MCP server s", Rules: []permissions.Rule{rule}})
		a.ended <- err
	}()
	return a
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
		ended := a.turnStarted(t.Context())
		waited := make(chan bool, 1)
		synctest.Wait()
		go func() { a.await(t.Context()); waited <- true }()
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
		ended()
		if got := a.states(); !slices.Equal(got, []transcript.State{transcript.Done}) {
			t.Errorf("the card ended as %v", got)
		}
	})
}

// The end of a turn withdraws the question, and the next turn asks it again.
func TestHostQuestions_AskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askAboutHost(t.Context(), 0)
		turn, cancel := context.WithCancel(t.Context())
		ended := a.turnStarted(turn)
		synctest.Wait()
		cancel()
		a.await(turn) // does not wait: the turn is cancelled
		ended()
		if got := a.states(); !slices.Equal(got, []transcript.State{transcript.Cancelled}) {
			t.Fatalf("the card of the first turn ended as %v", got)
		}
		defer a.turnStarted(t.Context())()
		a.user <- tools.RejectOnce
		if err := <-a.ended; err != nil || a.got != tools.RejectOnce || len(*a.kept) > 0 {
			t.Errorf("the answer is %v, %v, and %v was kept", a.got, err, *a.kept)
		}
	})
}

// A question ends without an answer after its time, and with the session.
func TestHostQuestions_NoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askAboutHost(t.Context(), time.Minute)
		defer a.turnStarted(t.Context())()
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
		ended := q.turnStarted(t.Context())
		answer, err := q.ask(t.Context(), hostQuestion{})
		if answer != tools.Cancelled || !errors.Is(err, errNoHostAnswer) {
			t.Errorf("behind another question the answer is %v, %v", answer, err)
		}
		leave()
		turn, err := q.running(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ended(); turn.Err() == nil {
			t.Fatal("the turn has not ended")
		}
		if answer, err := q.put(turn, hostQuestion{}); answer != tools.Cancelled || err == nil {
			t.Errorf("after the turn the answer is %v, %v", answer, err)
		}
		if len(*shown) > 0 {
			t.Errorf("the user was shown %v", *shown)
		}
	})
}
