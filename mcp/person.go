package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/kinds"
	"acp-agent/mcp/oauth"
)

// Person puts questions of servers to the user. Its methods are called from several goroutines;
// each returns when the user has answered or ctx has ended.
type Person interface {
	// Can says what the user can be asked: to fill in a form, to open an address.
	Can() (forms, addresses bool)
	// Fill puts a form to the user. An error means that it was not put.
	Fill(ctx context.Context, f Form) (Answer, error)
	// Visit has the user open an address. Once what they do there is done, done is to be
	// called; it is never nil. An error means that they were not asked.
	Visit(ctx context.Context, v Visit) (a Answer, done func(), err error)
}

// The actions of an Answer.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// Answer is what the user did.
type Answer struct {
	// Action is Accept, Decline or Cancel.
	Action string
	// Content is what they filled in, by the names of the fields: texts, numbers, truth
	// values and lists of texts.
	Content map[string]any
}

// Visit is an address that a user is to open.
type Visit struct {
	// CallID is the tool call for which it is asked, "" when none is alone.
	CallID string
	// Message says which server asks, why, and which host the address leads to.
	Message string
	// Address is https, or http of this machine, and in ASCII.
	Address string
}

// The limits of what a server asks.
const (
	maxMessage = 2000 // characters
	// maxVisits bounds the addresses that were opened and are not known to be done with.
	maxVisits = 100
)

// asking is what a connection asks of the user, one thing at a time.
type asking struct {
	turn   chan struct{} // a token while nothing is asked
	mu     sync.Mutex
	visits map[string]visit // by the server's ids
}

// visit is an address that the user was asked to open.
type visit struct {
	done func() // to be called when the server says that it is done; nil while it is shown
	over bool   // the server said so while it was shown: a browser may be faster than an editor
}

// mayAsk lets the server ask what the user can be asked, and nothing else of us: a model
// for its own use (sampling) it does not get.
func (l *link) mayAsk(c *connection, o *sdk.ClientOptions) {
	person := l.manager.o.Person
	if person == nil {
		return
	}
	forms, addresses := person.Can()
	if !forms && !addresses {
		return
	}
	can := &sdk.ElicitationCapabilities{}
	if forms {
		can.Form = &sdk.FormElicitationCapabilities{}
	}
	if addresses {
		can.URL = &sdk.URLElicitationCapabilities{}
	}
	o.Capabilities.Elicitation = can
	c.asking.turn = make(chan struct{}, 1)
	c.asking.turn <- struct{}{}
	o.ElicitationHandler = func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		answer, err := l.ask(ctx, c, r.Params)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		return &sdk.ElicitResult{Action: answer.Action, Content: answer.Content}, nil
	}
	o.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
		c.asking.complete(r.Params.ElicitationID)
	}
}

// The refusals of what a server asks.
var (
	errNoCall  = errors.New("the person is asked only while a tool of this server runs")
	errNoForms = errors.New("the person cannot be shown a form here")
	errNoVisit = errors.New("the person cannot be shown an address here")
)

// ask puts what a server wants to know to the user, by the server's name.
func (l *link) ask(ctx context.Context, c *connection, p *sdk.ElicitParams) (Answer, error) {
	forms, addresses := l.manager.o.Person.Can()
	byForm := p.Mode == "" || p.Mode == "form"
	switch {
	case byForm && !forms:
		return Answer{}, errNoForms
	case !byForm && !addresses:
		return Answer{}, errNoVisit
	}
	ctx, callID, over, ok := c.calls.wait(ctx)
	if !ok {
		return Answer{}, errNoCall
	}
	defer over()
	select {
	case <-c.asking.turn:
		defer func() { c.asking.turn <- struct{}{} }()
	case <-ctx.Done():
		return Answer{Action: Cancel}, nil
	}
	var answer Answer
	var err error
	if byForm {
		answer, err = l.askForm(ctx, callID, p)
	} else {
		answer, err = l.askVisit(ctx, callID, c, p)
	}
	if ctx.Err() != nil {
		return Answer{Action: Cancel}, nil
	}
	return answer, err
}

func (l *link) askForm(ctx context.Context, callID string, p *sdk.ElicitParams) (Answer, error) {
	form, err := formOf(p.RequestedSchema)
	if err != nil {
		return Answer{}, err
	}
	form.CallID, form.Message = callID, l.says("asks", p.Message)
	answer, err := l.manager.o.Person.Fill(ctx, form)
	if err != nil {
		return Answer{}, err
	}
	return form.withoutUnknown(answer), nil
}

func (l *link) askVisit(ctx context.Context, callID string, c *connection, p *sdk.ElicitParams) (Answer, error) {
	local := l.server.Command != "" || oauth.Local(l.server.URL)
	host, err := oauth.Shown(p.URL, local)
	if err != nil {
		return Answer{}, err
	}
	message := l.says("wants you to open an address at "+host, p.Message)
	c.asking.begin(p.ElicitationID)
	answer, done, err := l.manager.o.Person.Visit(ctx, Visit{CallID: callID, Message: message, Address: p.URL})
	c.asking.shown(p.ElicitationID, done, err == nil && answer.Action == Accept)
	return Answer{Action: answer.Action}, err
}

// says is what a server says, behind its name. Each of several lines is marked, so that none
// of them can be taken for ours.
func (l *link) says(what, text string) string {
	text = strings.TrimSpace(clean(text, maxMessage))
	if strings.Contains(text, "\n") {
		text = "\n\n" + quoted(text)
	} else {
		text = " " + text
	}
	return fmt.Sprintf("The MCP server %s %s:%s", kinds.Line(l.server.Name, maxFieldText), what, text)
}

// begin waits for the server to say that a visit is done; of too many it waits for none.
func (a *asking) begin(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.visits == nil {
		a.visits = map[string]visit{}
	}
	if len(a.visits) < maxVisits {
		a.visits[id] = visit{}
	}
}

// shown says that a visit was, and what is to be called when it is done. One that the user
// did not agree to is forgotten.
func (a *asking) shown(id string, done func(), agreed bool) {
	a.mu.Lock()
	v, waits := a.visits[id]
	if agreed && waits && !v.over {
		a.visits[id] = visit{done: done}
	} else {
		delete(a.visits, id)
	}
	a.mu.Unlock()
	if agreed && v.over {
		done()
	}
}

func (a *asking) complete(id string) {
	a.mu.Lock()
	v, waits := a.visits[id]
	switch {
	case waits && v.done == nil:
		a.visits[id] = visit{over: true}
	case waits:
		delete(a.visits, id)
	}
	a.mu.Unlock()
	if v.done != nil {
		v.done()
	}
}
