package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/acp/rpc"
)

// A peer that does not read blocks the senders, at about one megabyte.
func TestConn_StalledPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, handler{}, rpc.Options{})
		const size, enough = 10 << 10, 1000
		chunk := []string{strings.Repeat("x", size)}
		sent := make(chan error, enough)
		go func() {
			for range enough {
				sent <- p.conn.Notify("m", chunk)
			}
		}()
		synctest.Wait()
		if n := len(sent); n < 100 || n > 110 {
			t.Errorf("%d notifications of 10 KiB accepted, want about 100", n)
		}
		if sent, written := p.conn.Position(); sent < 100*size || written != 0 {
			t.Errorf("Position: %d sent, %d written while the peer does not read", sent, written)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.conn.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush: %v, want a timeout", err)
		}
		if err := p.conn.Call(ctx, "m", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call: %v, want a timeout", err)
		}
		for range enough {
			if got := p.receive(); len(got) < size {
				t.Fatalf("received %s", got)
			}
		}
		if err := p.conn.Flush(t.Context()); err != nil {
			t.Errorf("Flush: %v", err)
		}
		if sent, written := p.conn.Position(); written != sent || sent < enough*size {
			t.Errorf("Position: %d sent, %d written when all is read", sent, written)
		}
		for range enough {
			if err := <-sent; err != nil {
				t.Errorf("Notify: %v", err)
			}
		}
	})
}

// Answers to garbage do not stop the read loop at once, even if the output is full.
func TestConn_StalledPeerStillRead(t *testing.T) {
	notified := make(chan struct{}, 1)
	p := connect(t, handler{notify: func(string, json.RawMessage) { notified <- struct{}{} }}, rpc.Options{})
	if err := p.conn.Notify("big", strings.Repeat("x", 1<<20)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		p.send("garbage")
	}
	p.send(`{"jsonrpc":"2.0","method":"n"}`)
	<-notified
}

func TestConn_WriteErrorEndsAll(t *testing.T) {
	started := make(chan string, 1)
	p := connect(t, untilCancelled(started), rpc.Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	<-started
	pending := p.call(t.Context(), "m", nil)
	p.receive()
	broken := errors.New("broken")
	_ = p.back.CloseWithError(broken)
	if err := p.conn.Notify("m", nil); err != nil && !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("Notify: %v", err)
	}
	if err := p.ended(); !errors.Is(err, broken) {
		t.Errorf("Run: %v, want %v", err, broken)
	}
	if o := <-pending; !errors.Is(o.err, rpc.ErrClosed) {
		t.Errorf("Call: %v, want ErrClosed", o.err)
	}
	if err := p.conn.Notify("m", nil); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("Notify: %v, want ErrClosed", err)
	}
	if err := p.conn.Flush(t.Context()); err != nil && !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("Flush: %v", err)
	}
}

// At the end of the input running requests are cancelled, and their answers still go
// out.
func TestConn_Drain(t *testing.T) {
	const running = 50
	cause := make(chan error, running)
	started := make(chan struct{}, running)
	p := connect(t, handler{request: func(*rpc.Request) rpc.Body {
		return func(ctx context.Context) rpc.Reply {
			started <- struct{}{}
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return rpc.Reply{Result: map[string]string{"stopReason": "cancelled"}}
		}
	}}, rpc.Options{})
	for i := range running {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt"}`, i))
		<-started
	}
	_ = p.in.Close()
	for range running {
		if got := p.receive(); !strings.HasSuffix(got, `"result":{"stopReason":"cancelled"}}`) {
			t.Fatalf("received %s", got)
		}
		if err := <-cause; !errors.Is(err, rpc.ErrClosed) {
			t.Fatalf("cause %v, want ErrClosed", err)
		}
	}
	if err := p.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if _, err := p.out.ReadByte(); err != io.EOF {
		t.Errorf("more output, or %v", err)
	}
}

// Neither a body that ignores its context nor a peer that reads nothing holds up the
// end for longer than the drain timeout.
func TestConn_DrainIsBounded(t *testing.T) {
	release := make(chan struct{})
	started := make(chan struct{})
	p := connect(t, handler{request: func(*rpc.Request) rpc.Body {
		return func(context.Context) rpc.Reply {
			close(started)
			<-release
			return rpc.Reply{}
		}
	}}, rpc.Options{DrainTimeout: time.Millisecond})
	defer close(release)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	<-started
	if err := p.conn.Notify("unread", nil); err != nil {
		t.Fatal(err)
	}
	_ = p.in.Close()
	if err := p.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestConn_Close(t *testing.T) {
	var p *peer
	p = connect(t, handler{request: func(*rpc.Request) rpc.Body {
		return func(context.Context) rpc.Reply {
			p.conn.Close()
			p.conn.Close()
			return rpc.Reply{}
		}
	}}, rpc.Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.expect(result("1", "{}"))
	if err := p.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// uninterruptible is an input that cannot be interrupted, such as an inherited pipe.
type uninterruptible struct{ io.Reader }

func (uninterruptible) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }
func (uninterruptible) Close() error                    { return nil }

// An input that cannot be interrupted holds up neither the end nor the last answers.
func TestConn_InputStaysOpen(t *testing.T) {
	r, in := io.Pipe()
	defer in.Close()
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan string, 1)
	var out bytes.Buffer
	conn := rpc.New(uninterruptible{r}, &out, untilCancelled(started), rpc.Options{DrainTimeout: time.Hour})
	run := make(chan error, 1)
	go func() { run <- conn.Run(ctx) }()
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"m"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	<-started
	cancel()
	if err := <-run; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	if want := failed("1", rpc.CodeRequestCancelled, "request cancelled") + "\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}

func TestConn_RunContext(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	run := make(chan error, 1)
	go func() { run <- rpc.New(r, io.Discard, handler{}, rpc.Options{}).Run(ctx) }()
	cancel(stop)
	if err := <-run; !errors.Is(err, stop) {
		t.Errorf("Run: %v, want %v", err, stop)
	}
}

func TestConn_ReadError(t *testing.T) {
	broken := errors.New("broken")
	p := connect(t, echo, rpc.Options{})
	_ = p.in.CloseWithError(broken)
	if err := p.ended(); !errors.Is(err, broken) {
		t.Errorf("Run: %v, want %v", err, broken)
	}
}
