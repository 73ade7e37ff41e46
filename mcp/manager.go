package mcp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"acp-agent/internal/redact"
	"acp-agent/mcp/oauth"
	"acp-agent/tools"
)

// Options are what a Manager works with.
type Options struct {
	// Start starts the program of a server, confined and with the environment of programs;
	// stderr gets its errors. Closing what it returns ends the program with all that it
	// started, and wakes its readers and writers. nil means that none can be started. It is
	// called from several goroutines.
	Start func(ctx context.Context, s Server, stderr io.Writer) (io.ReadWriteCloser, error)
	// Roots are the absolute directories that servers are told the session works in, the
	// first of them its own; none means that they are not told, as one with NoRoots never is.
	Roots []string
	// Changed is called, from the goroutine of a server or within Set, when the prompts of
	// servers may be others than before; nil means no one is told. It must not call Set or
	// Close.
	Changed func()
	// Reserved reports the ids of the agent's own tools, which no alias of a server's tool may
	// take; nil means that there are none.
	Reserved func(id string) bool
	// Version is how the agent names its version; may be empty.
	Version string
	// Tokens keeps the tokens of sign-ins to servers over HTTP; nil means that no user can
	// sign in. Redact is called with each token, so that it is taken out of all that is shown; nil
	// means no call.
	Tokens oauth.Store
	Redact func(secrets ...string)
	// Person is asked what servers want to know while one of their tools runs; nil means
	// that servers may ask nothing.
	Person Person
	// Logger gets the failures of servers; nil means none.
	Logger *slog.Logger
}

// Manager is the MCP servers of one session. Nothing is started before Set. Its methods
// are safe for concurrent use.
//
// Goroutines: one for each server, from Set to the end of the server, which Set without it
// and Close wait for; those of the library and of net/http, which end with it; one that
// waits for the end of each connection; one while a server's question stands.
type Manager struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc

	mu         sync.Mutex
	links      []*link
	closed     bool
	generation int
}

// New returns a Manager without servers.
func New(o Options) *Manager {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Manager{o: o}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// errTaken is the problem of a server whose name another one has.
var errTaken = errors.New("another server has this name")

// Set says which servers there are. It connects to new servers, all at once and
// in the background, ends servers that are gone or have changed, and leaves the others alone.
func (m *Manager) Set(servers []Server) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return
	}
	old, taken := m.links, map[string]bool{}
	m.links = nil
	var begun []*link
	for _, server := range servers {
		id := serverID(server.Name)
		at := slices.IndexFunc(old, func(l *link) bool { return l.server.same(&server) && l.taken() == taken[id] })
		if at >= 0 {
			m.links = append(m.links, old[at])
			old[at].checkForSignIn()
			old = slices.Delete(slices.Clone(old), at, at+1)
		} else {
			l := m.link(server, id, taken[id])
			m.links, begun = append(m.links, l), append(begun, l)
		}
		taken[id] = true
	}
	if len(old)+len(begun) > 0 {
		m.generation++
	}
	m.mu.Unlock()
	for _, l := range old {
		l.cancel()
	}
	for _, l := range old {
		<-l.ended
	}
	if len(old) > 0 {
		m.announce()
	}
}

// link starts the link of a server; the caller holds mu.
func (m *Manager) link(server Server, id string, taken bool) *link {
	l := &link{
		manager: m, server: server, id: id, state: Connecting, started: time.Now(),
		ended: make(chan struct{}), tried: make(chan struct{}), listed: make(chan struct{}), cancel: func() {},
	}
	l.keys.Add(server.Keys()...)
	l.signer = newSigner(m.account(&l.server, l.redactTokens))
	if taken {
		l.state, l.problem = Failed, errTaken
		close(l.ended)
		l.markListed()
		return l
	}
	ctx, cancel := context.WithCancel(m.ctx)
	l.cancel = cancel
	go l.run(ctx) // ends with ctx; Close and Set wait for it
	return l
}

// redactTokens has the tokens of the server taken out of all that it sends, here and elsewhere.
func (l *link) redactTokens(tokens ...string) {
	l.keys.Add(slices.DeleteFunc(slices.Clone(tokens), func(token string) bool { return !redact.Distinct(token) })...)
	if l.manager.o.Redact != nil {
		l.manager.o.Redact(tokens...)
	}
}

// taken reports whether the server was never connected, for its name was another's.
func (l *link) taken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Is(l.problem, errTaken)
}

// Settle waits until each server has been reached, or has failed once, or ctx ends. It does not wait
// for a server whose link was started before since, unless the user may have signed in to it
// elsewhere. Tools are listed then, and prompts and resources that the server lists within a second.
func (m *Manager) Settle(ctx context.Context, since time.Time) {
	for _, l := range m.all() {
		if l.isChecking() {
			l.await(ctx)
			continue
		}
		if l.started.Before(since) {
			continue
		}
		select {
		case <-l.tried:
		case <-ctx.Done():
			return
		}
		if l.account != nil {
			l.await(ctx) // it may be checking for a sign-in elsewhere
		}
	}
}

// AwaitLists waits until each server has listed its prompts and resources, or has failed
// to, or ctx ends.
func (m *Manager) AwaitLists(ctx context.Context) {
	for _, l := range m.all() {
		select {
		case <-l.listed:
		case <-ctx.Done():
			return
		}
	}
}

// Tools are those of all servers, in the order in which the servers were set. They stay
// while a server is away, so that a call says so. generation is another one when they may
// have changed.
func (m *Manager) Tools() (list []tools.Tool, generation int) {
	m.mu.Lock()
	links, generation := m.links, m.generation
	m.mu.Unlock()
	for _, l := range links {
		l.mu.Lock()
		list = append(list, l.tools...)
		l.mu.Unlock()
	}
	return list, generation
}

// Generation is that of Tools.
func (m *Manager) Generation() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.generation
}

// Status says how the servers stand.
func (m *Manager) Status() []Status {
	var list []Status
	for _, l := range m.all() {
		list = append(list, l.status())
	}
	return list
}

// Close ends all servers and waits until nothing of them is left.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	for _, l := range m.all() {
		<-l.ended
	}
}

func (m *Manager) all() []*link {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.links)
}

// announce says that prompts may have changed.
func (m *Manager) announce() {
	if m.o.Changed != nil {
		m.o.Changed()
	}
}

func (m *Manager) change() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation++
}
