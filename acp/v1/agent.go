package v1

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/session"
	"acp-agent/workspace"
)

// protocolVersion is the version this package speaks.
const protocolVersion = 1

// Core is the agent behind the protocol.
type Core interface {
	// Warm prepares what the first session needs; it may take its time.
	Warm()
	// Open opens a session. An error of type *session.AuthError means that
	// credentials are missing.
	Open(ctx context.Context, spec session.Spec) (*session.Session, error)
	// Authenticate takes a key for this process, or with "" reads environment
	// and configuration again; nil means that a session can be opened.
	Authenticate(ctx context.Context, key string) error
	// Logout forgets credentials until the next Authenticate, Forget those that a login
	// stored. Logout does not block.
	Logout()
	Forget(ctx context.Context) error
}

// Options are what an Agent is made of.
type Options struct {
	Core    Core
	Version string
	// Login is how a client runs the login; the zero value offers none.
	Login Login
	// Grace is how long processes have between TERM and KILL when a session is
	// closed, Shutdown when the connection ends. 0 means 2 s and 500 ms.
	Grace, Shutdown time.Duration
	// Logger gets what is odd, never contents; nil means none.
	Logger *slog.Logger
}

// Agent serves one connection. It is an rpc.Handler.
type Agent struct {
	Options
	conn    *rpc.Conn
	methods map[string]func(*rpc.Request) rpc.Body
	trial   workspace.TerminalTrial
	warming sync.WaitGroup
	closing sync.WaitGroup // session/close requests under way

	mu          sync.Mutex
	initialized bool
	client      client
	sessions    map[string]*open
	alive       map[*open]struct{} // those of sessions, and those being closed
	ended       bool
}

// open is a session and its way to the editor.
type open struct {
	*session.Session
	translator *translator
}

// New returns an Agent. Connect gives it its connection.
func New(o Options) *Agent {
	if o.Grace == 0 {
		o.Grace = 2 * time.Second
	}
	if o.Shutdown == 0 {
		o.Shutdown = 500 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	a := &Agent{Options: o, sessions: map[string]*open{}, alive: map[*open]struct{}{}}
	a.methods = map[string]func(*rpc.Request) rpc.Body{
		schema.MethodInitialize:             a.initialize,
		schema.MethodAuthenticate:           a.authenticate,
		schema.MethodLogout:                 a.logout,
		schema.MethodSessionNew:             a.newSession,
		schema.MethodSessionPrompt:          a.prompt,
		schema.MethodSessionClose:           a.closeSession,
		schema.MethodSessionSetMode:         a.setMode,
		schema.MethodSessionSetConfigOption: a.setConfigOption,
		methodCancelCall:                    a.cancelCall,
	}
	return a
}

// Connect tells the agent its connection; it comes before the first message.
func (a *Agent) Connect(conn *rpc.Conn) { a.conn = conn }

// Request serves a request (see rpc.Handler).
func (a *Agent) Request(req *rpc.Request) rpc.Body {
	serve, ok := a.methods[req.Method]
	if !ok {
		return nil // method not found
	}
	a.mu.Lock()
	ready := a.initialized || req.Method == schema.MethodInitialize
	a.mu.Unlock()
	if !ready {
		return fail(rpc.Errorf(rpc.CodeInvalidRequest, "%s came before initialize", req.Method))
	}
	return serve(req)
}

// Notify serves a notification; unknown ones are ignored.
func (a *Agent) Notify(method string, params json.RawMessage) {
	if method != schema.MethodSessionCancel {
		return
	}
	var note schema.CancelNotification
	if err := schema.Decode(params, &note); err != nil {
		a.Logger.Debug("cancel without a session")
		return
	}
	if s := a.session(string(note.SessionID)); s != nil {
		s.Cancel()
	}
}

// Close ends every session; it is called when the connection has ended. It
// returns when no process is left, at the latest a moment after Shutdown.
func (a *Agent) Close() {
	a.mu.Lock()
	a.ended = true
	sessions := slices.Collect(maps.Keys(a.alive))
	a.mu.Unlock()
	for _, s := range sessions {
		a.closing.Go(func() { s.end(a.Shutdown) })
	}
	a.closing.Wait()
	a.warming.Wait()
}

// session returns a live session, nil when there is none of that id.
func (a *Agent) session(id string) *open {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}

// decode reads the params of a request; the error is the answer to it.
func decode(req *rpc.Request, params json.Unmarshaler) error {
	if err := schema.Decode(req.Params, params); err != nil {
		return badParams(req, err)
	}
	return nil
}

// badParams says what is wrong with the params of a request.
func badParams(req *rpc.Request, err error) error {
	return rpc.Errorf(rpc.CodeInvalidParams, "%s: %s", req.Method, err)
}

// fail is the body of a request that is refused at once.
func fail(err error) rpc.Body {
	return func(context.Context) rpc.Reply { return rpc.Reply{Err: err} }
}

// answer is the body of a request that is already served.
func answer(result any) rpc.Body {
	return func(context.Context) rpc.Reply { return rpc.Reply{Result: result} }
}

// wireError gives the errors of the core their codes (ACP, section 1.7).
func wireError(err error) error {
	var auth *session.AuthError
	var value *session.BadValueError
	var already *rpc.Error
	switch {
	case err == nil || errors.As(err, &already):
		return err
	case errors.As(err, &auth):
		return rpc.Errorf(rpc.CodeAuthRequired, "%s", auth.Message)
	case errors.As(err, &value):
		return rpc.Errorf(rpc.CodeInvalidParams, "%s", value.Error())
	}
	return modelError(err)
}
