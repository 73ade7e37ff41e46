package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// hostCall is the name of the call that shows the question.
const hostCall = "network"

// errNoHostAnswer is why a question ended without an answer.
var errNoHostAnswer = errors.New("the user did not answer in time")

// hostQuestion is the question whether a server may connect to a host, as a recording keeps it. Rules are
// what "always" puts in force, which Remember says in one line.
type hostQuestion struct {
	Title, Reason, Text, Remember string
	Rules                         []permissions.Rule
}

// allows reports an answer that opens a host.
func allows(answer tools.Answer) bool {
	return answer == tools.AllowOnce || answer == tools.AllowAlways || answer == tools.AllowProject
}

// hostQuestions asks the user about the hosts that MCP servers reach for. A server reaches for hosts at
// any time; the user is asked while a turn runs (see askingTurn), and the turn does not end before the
// answer, for not every client shows what comes between turns. The card of a question is the user's alone:
// the model does not see it. A nil hostQuestions asks nothing.
type hostQuestions struct {
	conversation *conversation
	asker        tools.Asker
	queue        tools.QuestionQueue
	limit        time.Duration   // of the wait for an answer; 0 means none
	recorded     *recordedPerson // nil without a recording
	projects     bool            // answers are kept for the project, too
	// keep puts the rules of an answer in force.
	keep func(tools.Answer, []permissions.Rule)

	mu   sync.Mutex      // guards what follows
	turn context.Context // of the turn that takes questions; nil while none does
	next chan struct{}   // closed when one takes questions; nil while nothing waits for it
	open int             // questions that a turn has taken and that are not over
	idle chan struct{}   // closed when none is open any more
}

// newHostQuestions returns nil where no user can be asked.
func newHostQuestions(o opened, c *conversation, keep func(tools.Answer, []permissions.Rule)) *hostQuestions {
	if o.spec.Asker == nil {
		return nil
	}
	q := &hostQuestions{
		conversation: c, asker: o.spec.Asker, queue: o.spec.Queue, limit: o.limits().ConnectAsk, projects: o.host.Projects != nil, keep: keep,
	}
	if q.recorded, _ = o.spec.Person.(*recordedPerson); q.recorded != nil {
		q.recorded.askHost = func(ctx context.Context, asked hostQuestion) {
			defer q.enter()()
			_, _ = q.put(ctx, asked)
		}
	}
	return q
}

// enter counts a question that is put, until it is over.
func (q *hostQuestions) enter() (leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.enterLocked()
}

// enterLocked is enter for a caller that holds the lock.
func (q *hostQuestions) enterLocked() (leave func()) {
	if q.open++; q.open == 1 {
		q.idle = make(chan struct{})
	}
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.open--; q.open == 0 {
			close(q.idle)
		}
	}
}

// enterTurn is enter for a question that waits for a turn, whose context it returns.
func (q *hostQuestions) enterTurn(ctx context.Context) (turn context.Context, leave func(), err error) {
	for {
		q.mu.Lock()
		if q.turn != nil && q.turn.Err() == nil {
			defer q.mu.Unlock()
			return q.turn, q.enterLocked(), nil
		}
		if q.next == nil {
			q.next = make(chan struct{})
		}
		next := q.next
		q.mu.Unlock()
		select {
		case <-next:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// ask asks in the turn that runs, or in the next one, and again where that ends without an answer. The
// end of ctx withdraws the question.
func (q *hostQuestions) ask(ctx context.Context, asked hostQuestion) (tools.Answer, error) {
	for {
		turn, leave, err := q.enterTurn(ctx)
		if err != nil {
			return tools.RejectOnce, err
		}
		asking, cancel := context.WithCancelCause(turn)
		stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		answer, err := q.askIn(asking, asked)
		stop()
		cancel(nil)
		leave()
		switch {
		case ctx.Err() != nil:
			return tools.RejectOnce, context.Cause(ctx)
		case turn.Err() == nil:
			return answer, err
		}
	}
}

func (q *hostQuestions) askIn(ctx context.Context, asked hostQuestion) (tools.Answer, error) {
	if q.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, q.limit, errNoHostAnswer)
		defer cancel()
	}
	answer, err := q.put(ctx, asked)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return answer, err
}

// put asks when it is the turn of the question among those of the agents. The answer to one that was not
// shown is tools.Cancelled.
func (q *hostQuestions) put(ctx context.Context, asked hostQuestion) (answer tools.Answer, err error) {
	answer = tools.Cancelled
	if ctx.Err() != nil {
		return answer, context.Cause(ctx)
	}
	id := q.conversation.ids.New(transcript.CallPrefix)
	show := func(asking context.Context) (err error) {
		answer, err = q.show(asking, id, asked)
		return err
	}
	err = tools.AskInTurn(ctx, q.queue, id, show)
	return answer, err
}

// show shows the card of a question, until its answer.
func (q *hostQuestions) show(ctx context.Context, id string, asked hostQuestion) (tools.Answer, error) {
	n := 0
	if q.recorded != nil {
		n = q.recorded.happened(hostEvent, serverQuestion{Host: &asked})
	}
	card := kinds.Card{Kind: kinds.Fetch, Title: asked.Title, Content: []kinds.Content{kinds.Text{Text: asked.Text}}}
	ready := transcript.ToolReady{CallID: id, Tool: hostCall, Card: card}
	q.conversation.pass(transcript.ToolStarted{CallID: id, Name: hostCall, Tool: hostCall, Card: kinds.Neutral(hostCall)})
	q.conversation.pass(ready)
	answer, err := q.asker.Ask(ctx, tools.PermissionRequest{
		CallID: id, Name: hostCall, Ready: ready, Reason: asked.Reason, Remember: asked.Remember, Project: q.projects,
	})
	withdrawn := q.recorded.hostWithdrawn(ctx, n)
	end := pipeline.Unrun(id, card, transcript.Rejected, "The connection is not allowed.")
	switch {
	case withdrawn:
		end = pipeline.Unrun(id, card, transcript.Cancelled, pipeline.CancelledText)
	case err == nil && allows(answer):
		end = pipeline.Unrun(id, card, transcript.Done, "The connection is allowed.")
		q.keep(answer, asked.Rules)
	}
	q.conversation.pass(end)
	q.conversation.noteQuestion(ready, end)
	return answer, err
}

// askingTurn is a turn in which questions about hosts are asked. A turn takes no more questions before its last
// event, which closes the cards of the turn.
type askingTurn struct {
	questions *hostQuestions
	ctx       context.Context // of the turn; it ends with end
	cancel    context.CancelFunc
}

// turnStarted lets questions be asked in a turn.
func (q *hostQuestions) turnStarted(ctx context.Context) *askingTurn {
	ctx, cancel := context.WithCancel(ctx)
	t := &askingTurn{q, ctx, cancel}
	t.resume()
	return t
}

// resume takes questions, also after awaitAnswers.
func (t *askingTurn) resume() {
	q := t.questions
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turn = t.ctx; q.next != nil {
		close(q.next)
		q.next = nil
	}
}

// awaitAnswers waits until no question is open, or the turn is cancelled. After that the turn takes no more questions.
func (t *askingTurn) awaitAnswers() {
	for open := t.close(false); open != nil; open = t.close(false) {
		select {
		case <-open:
		case <-t.ctx.Done():
			return
		}
	}
}

// end takes no more questions and withdraws the open ones, which are asked again in the next turn. It may be
// called more than once.
func (t *askingTurn) end() {
	open := t.close(true)
	t.cancel()
	if open != nil {
		<-open
	}
}

// close takes no more questions, and returns a channel that is closed when the open ones are over; nil when
// none is open. If one is open and always is not set, it goes on to take questions.
func (t *askingTurn) close(always bool) (open <-chan struct{}) {
	q := t.questions
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == 0 || always {
		q.turn = nil
	}
	if q.open == 0 {
		return nil
	}
	return q.idle
}
