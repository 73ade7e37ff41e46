package rpc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Options adjusts a connection. The zero value is ready for use.
type Options struct {
	// MaxLine is the longest line served, in bytes without the newline; a longer one is
	// skipped and answered with an error. 0 means DefaultMaxLine.
	MaxLine int

	// DrainTimeout bounds the time that Run, once the connection has ended, waits for
	// running bodies to reply and for the output to be written. 0 means one second.
	DrainTimeout time.Duration

	// Logger receives panics, and at debug level oddities of the peer; never the
	// contents of a message. nil means none.
	Logger *slog.Logger

	// OnLine, if not nil, sees every line, "in" or "out", without its newline, and "in_end"
	// when the input has ended. It must not block, keep the slice, or use the connection.
	OnLine func(dir string, line []byte)
}

// Conn is a connection to one peer. All methods may be used from any goroutine.
//
// Goroutines, all started by Run:
//   - the reader, inside jsonrpc2.Conn, which calls the Handler; it blocks on r, and on
//     the output when the peer sends garbage without reading the answers; it ends with
//     the input;
//   - jsonrpc2.Conn's own watcher of the connection's context;
//   - the writer, which blocks on w; it ends after the drain or by a write error;
//   - one per request, running its Body; their contexts are cancelled at the end.
//
// Run waits for all of them within Options.DrainTimeout. What then still hangs in a
// Read or Write that cannot be interrupted, or in a Body that ignores its context, is
// left behind and can no longer send anything.
type Conn struct {
	r       io.Reader
	w       io.Writer
	handler Handler
	lines   *lineReader
	out     *output
	log     *slog.Logger
	trace   func(dir string, line []byte)
	drain   time.Duration

	started chan struct{}  // closed by Run; peer is set before
	peer    *jsonrpc2.Conn // does calls and dispatch
	quit    chan struct{}  // closed by Close
	closed  sync.Once      // guards quit
	end     context.CancelCauseFunc
	read    chan struct{} // closed when the read loop has ended
	readErr error         // why, if not by EOF; set before read is closed

	mu       sync.Mutex                         // guards what follows
	inflight map[string]context.CancelCauseFunc // running requests of the peer, by ID.key
	bodies   int                                // running bodies
	ended    bool                               // no more bodies are started
	idle     chan struct{}                      // closed when ended and bodies is 0
}

// New makes a connection that reads from r and writes to w. It is idle until Run.
func New(r io.Reader, w io.Writer, h Handler, o Options) *Conn {
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.DrainTimeout <= 0 {
		o.DrainTimeout = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Conn{
		r: r, w: w, handler: h,
		lines:    newLineReader(r, o.MaxLine),
		out:      newOutput(w, o.OnLine),
		log:      o.Logger,
		trace:    o.OnLine,
		drain:    o.DrainTimeout,
		started:  make(chan struct{}),
		quit:     make(chan struct{}),
		read:     make(chan struct{}),
		inflight: map[string]context.CancelCauseFunc{},
		idle:     make(chan struct{}),
	}
}

// Run serves the connection until the input ends, Close is called, writing fails, or
// ctx is done. It returns nil in the first two cases, and else the reason. It must be
// called once.
//
// r and w stay open, except that an r or w which can be closed is closed if that is the
// only way to get a blocked Read or Write to return.
func (c *Conn) Run(ctx context.Context) error {
	root, end := context.WithCancelCause(context.WithoutCancel(ctx))
	c.end = end
	writer := make(chan error, 1)
	go func() { writer <- c.out.run() }()
	c.peer = (&stream{c: c}).connect(root)
	close(c.started)

	err := c.serve(ctx)
	end(ErrClosed)
	deadline, stop := context.WithTimeout(context.WithoutCancel(ctx), c.drain)
	defer stop()
	interrupted := c.interruptRead()
	c.stopBodies(deadline.Done())
	c.out.close()
	select {
	case <-writer:
	case <-deadline.Done():
		closeIfPossible(c.w)
	}
	c.out.finish(ErrClosed) // this also frees a read loop that waits to answer
	if interrupted {
		select {
		case <-c.read:
		case <-deadline.Done():
		}
	}
	return err
}

// serve waits for the reason to end.
func (c *Conn) serve(ctx context.Context) error {
	select {
	case <-c.read:
		if c.readErr != nil {
			return fmt.Errorf("read from the peer: %w", c.readErr)
		}
		return nil
	case <-c.out.done:
		return c.out.reason()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.quit:
		return nil
	}
}

// interruptRead ends a Read that is going on, if that is possible. With a terminal or an
// inherited pipe it is not, as their missing deadlines tell: then the reader is left in
// its Read, which may never return, and what it still reads is dropped.
func (c *Conn) interruptRead() bool {
	select {
	case <-c.read:
		return true // it has ended by itself
	default:
	}
	if d, ok := c.r.(interface{ SetReadDeadline(t time.Time) error }); ok {
		if d.SetReadDeadline(time.Now()) != nil {
			return false
		}
	}
	return closeIfPossible(c.r)
}

// stopBodies starts no more bodies and waits for the running ones.
func (c *Conn) stopBodies(deadline <-chan struct{}) {
	c.mu.Lock()
	c.ended = true
	if c.bodies == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	select {
	case <-c.idle:
	case <-deadline:
		c.log.Warn("requests still running at the end of the connection")
	}
}

// Close makes Run end the connection and return. It does not wait for that, so that a
// Body may call it.
func (c *Conn) Close() {
	c.closed.Do(func() { close(c.quit) })
}

// Flush blocks until everything sent before it is written. It returns the cause of ctx,
// or an error that wraps ErrClosed if the connection ended with something unwritten.
func (c *Conn) Flush(ctx context.Context) error { return c.out.flush(ctx) }

// Position returns how many bytes were sent, and how many of them are written. A message is
// written when the position written has reached the position sent that was read after
// sending it; while the peer does not read, it stays back.
func (c *Conn) Position() (sent, written int64) { return c.out.position() }

// Notify sends a notification. Notifications and replies leave in the order in which
// they are sent. It blocks while the peer leaves about 1 MiB unread, and returns an
// error that wraps ErrClosed once the connection has ended.
func (c *Conn) Notify(method string, params any) error {
	f, err := notificationFrame(method, params)
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	defer f.free()
	return c.out.put(context.Background(), f.line(), queueLimit)
}

func closeIfPossible(v any) bool {
	closer, ok := v.(io.Closer)
	if ok {
		_ = closer.Close() // an end by other means is as good
	}
	return ok
}

// silent keeps jsonrpc2 from writing to the standard logger; the stream logs the same
// events itself.
type silent struct{}

func (silent) Printf(string, ...any) {}
