package v1

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/session"
	"acp-agent/store"
	"acp-agent/workspace/run"
)

// protocolVersion is the version this package speaks.
const protocolVersion = 1

// Core is the agent behind the protocol.
type Core interface {
	// Warm prepares what the first session needs. It may take long.
	Warm()
	// Open opens a session. The error is a *session.AuthError if credentials are missing.
	Open(ctx context.Context, spec session.Spec) (*session.Session, error)
	// Resume opens a stored session to go on with it. The error can also be store.ErrNotFound,
	// and a *store.BusyError if another process has it open.
	Resume(ctx context.Context, id string, spec session.Spec) (*session.Session, error)
	// List, Fork and Delete are about stored sessions; see session.Host.
	List(o store.ListOptions) (store.Page, error)
	Fork(id string, o store.ForkOptions) (store.Info, error)
	Delete(id string) error
	// Authenticate sets a key for this process, or with "" reads the environment and the
	// configuration again. After nil, a session can be opened.
	Authenticate(ctx context.Context, key string) error
	// Logout drops the credentials until the next Authenticate; it does not block. Forget
	// deletes the ones that a login stored.
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
	// Logger logs unusual events, never contents; nil means none.
	Logger *slog.Logger
}

// Agent serves one connection. It is an rpc.Handler.
type Agent struct {
	Options
	conn          *rpc.Conn
	requests      map[string]func(*rpc.Request) rpc.Body
	notifications map[string]func(json.RawMessage)
	trial         run.TerminalTrial
	background    sync.WaitGroup // the preparation of the first session, and sessions being closed

	mu          sync.Mutex // guards what follows
	initialized bool
	client      client
	sessions    map[string]*open
	alive       map[*open]struct{} // the open sessions, and the sessions that are being closed
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
	a.requests, a.notifications = a.requestTable(), a.notificationTable()
	return a
}

// Connect sets the connection; it is called before the first message.
func (a *Agent) Connect(conn *rpc.Conn) { a.conn = conn }

// Request serves a request (see rpc.Handler).
func (a *Agent) Request(req *rpc.Request) rpc.Body {
	serve, ok := a.requests[req.Method]
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

// Notify serves a notification and ignores unknown ones.
func (a *Agent) Notify(method string, params json.RawMessage) {
	if serve, ok := a.notifications[method]; ok {
		serve(params)
	}
}

// Close ends every session; it is called when the connection has ended. It returns when no
// process is left, shortly after Shutdown at the latest.
func (a *Agent) Close() {
	a.mu.Lock()
	a.ended = true
	sessions := slices.Collect(maps.Keys(a.alive))
	a.mu.Unlock()
	for _, s := range sessions {
		a.background.Go(func() { s.end(a.Shutdown) })
	}
	a.background.Wait()
}

// session returns the session with an id, or nil.
func (a *Agent) session(id string) *open {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}

// decode reads the params of a request. The error is the answer to the request.
func decode(req *rpc.Request, params json.Unmarshaler) error {
	if err := schema.Decode(req.Params, params); err != nil {
		return badParams(req, err)
	}
	return nil
}

// badParams is the answer to a request with faulty params.
func badParams(req *rpc.Request, err error) error {
	return rpc.Errorf(rpc.CodeInvalidParams, "%s: %s", req.Method, err)
}

// fail is the body of a request that fails at once.
func fail(err error) rpc.Body {
	return func(context.Context) rpc.Reply { return rpc.Reply{Err: err} }
}

// answer is the body of a request that has a result already.
func answer(result any) rpc.Body {
	return func(context.Context) rpc.Reply { return rpc.Reply{Result: result} }
}
