package session

import (
	"context"
	"encoding/json"
	"sync"

	"acp-agent/internal/record"
	"acp-agent/mcp"
)

// The events of a recording that say what MCP servers ask of the user.
const (
	formEvent     = "form"
	visitEvent    = "visit"
	hostEvent     = "host"
	withdrawEvent = "question withdrawn" // before it was answered
	visitedEvent  = "visited"            // what the user did at an address is done
)

// serverQuestion is how a recording keeps a question of an MCP server. The answer is among the recorded
// lines of the wire, and its effect is recorded with the call.
type serverQuestion struct {
	N     int
	Form  *mcp.Form  `json:",omitempty"`
	Visit *mcp.Visit `json:",omitempty"`
	// Host is the question about a host that the program of a server reaches for.
	Host *hostQuestion `json:",omitempty"`
}

// recordedPerson passes the questions of MCP servers on to the user, and records them. In a replay there
// are no servers: it asks the recorded questions.
type recordedPerson struct {
	mcp.Person
	session string
	tape    *record.Tape
	life    *lifetime
	// askHost asks about a host; hostQuestions sets it.
	askHost func(context.Context, hostQuestion)

	mu    sync.Mutex // guards what follows
	count int
	asked map[int]*playedQuestion
}

// playedQuestion is a question that a replay has asked.
type playedQuestion struct {
	cancel context.CancelFunc
	done   chan func() // receives the function that ends a visit, once the visit is answered
}

// recordPerson returns person as one that records; it is person itself when there is no tape.
func recordPerson(tape *record.Tape, session string, life *lifetime, person mcp.Person) mcp.Person {
	if tape == nil || person == nil {
		return person
	}
	return &recordedPerson{Person: person, session: session, tape: tape, life: life, asked: map[int]*playedQuestion{}}
}

// Fill implements mcp.Person.
func (p *recordedPerson) Fill(ctx context.Context, f mcp.Form) (mcp.Answer, error) {
	n := p.happened(formEvent, serverQuestion{Form: &f})
	answer, err := p.Person.Fill(ctx, f)
	p.withdrawn(ctx, n)
	return answer, err
}

// Visit implements mcp.Person.
func (p *recordedPerson) Visit(ctx context.Context, v mcp.Visit) (mcp.Answer, func(), error) {
	n := p.happened(visitEvent, serverQuestion{Visit: &v})
	answer, done, err := p.Person.Visit(ctx, v)
	p.withdrawn(ctx, n)
	return answer, func() {
		p.happened(visitedEvent, serverQuestion{N: n})
		done()
	}, err
}

// withdrawn records that a question was withdrawn, if ctx has ended.
func (p *recordedPerson) withdrawn(ctx context.Context, n int) {
	if ctx.Err() != nil {
		p.happened(withdrawEvent, serverQuestion{N: n})
	}
}

// hostWithdrawn is withdrawn for a question about a host, of which one is open at a time, and reports whether it was
// withdrawn. A replay has that from the recording: an answer may come just as the time is over. Without a recording p is nil.
func (p *recordedPerson) hostWithdrawn(ctx context.Context, n int) bool {
	over := ctx.Err() != nil
	if p == nil {
		return over
	}
	if over {
		p.happened(withdrawEvent, serverQuestion{N: n})
	}
	return record.Look(p.tape, "question over", p.session, func() bool { return over })
}

// happened records an event of a question, and returns the number of the question. A new one gets a
// number.
func (p *recordedPerson) happened(name string, q serverQuestion) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.N == 0 {
		p.count++
		q.N = p.count
	}
	if data, err := json.Marshal(q); err == nil {
		p.tape.Happened(p.session, name, data)
	}
	return q.N
}

// play repeats a recorded event.
func (p *recordedPerson) play(name string, data []byte) {
	var q serverQuestion
	if json.Unmarshal(data, &q) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.Form != nil || q.Visit != nil || q.Host != nil {
		ctx, cancel := context.WithCancel(p.life.ctx)
		played := &playedQuestion{cancel, make(chan func(), 1)}
		p.asked[q.N] = played
		p.life.start(func() {
			defer cancel()
			p.ask(ctx, q, played.done)
		})
		return
	}
	played := p.asked[q.N]
	switch {
	case played == nil:
	case name == withdrawEvent:
		played.cancel()
	case name == visitedEvent:
		p.life.start(func() {
			select {
			case done := <-played.done:
				done()
			case <-p.life.ctx.Done():
			}
		})
	}
}

// ask puts a recorded question to the user. The answer is dropped: its effect is in the recording.
func (p *recordedPerson) ask(ctx context.Context, q serverQuestion, answered chan<- func()) {
	if q.Host != nil {
		p.askHost(ctx, *q.Host)
		return
	}
	if q.Form != nil {
		for i := range q.Form.Fields {
			q.Form.Fields[i].Default = textsOf(q.Form.Fields[i].Default)
		}
		_, _ = p.Person.Fill(ctx, *q.Form)
		return
	}
	_, done, _ := p.Person.Visit(ctx, *q.Visit)
	answered <- done
}

// textsOf turns a default that was decoded as []any into the []string that it was.
func textsOf(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	texts := []string{}
	for _, one := range list {
		if text, ok := one.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
