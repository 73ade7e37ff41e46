package rpc_test

import (
	"context"
	"errors"
	"testing"

	"acp-agent/acp/rpc"
)

type outcome struct {
	value map[string]int
	err   error
}

// call starts a call of ours and returns where its outcome arrives.
func (p *peer) call(ctx context.Context, method string, params any) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.err = p.conn.Call(ctx, method, params, &o.value)
		done <- o
	}()
	return done
}

func TestConn_Call(t *testing.T) {
	p := connect(t, handler{}, rpc.Options{})
	first := p.call(t.Context(), "fs/read_text_file", map[string]string{"path": "/a<b"})
	p.expect(`{"jsonrpc":"2.0","method":"fs/read_text_file","params":{"path":"/a<b"},"id":0}`)
	second := p.call(t.Context(), "second", nil)
	p.expect(`{"jsonrpc":"2.0","method":"second","id":1}`)
	p.send(
		`{"jsonrpc":"2.0","id":5,"result":{"n":5}}`, // of no call
		`{"jsonrpc":"2.0","id":1,"result":{"n":2}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"n":9}}`, // answered already
		`{"jsonrpc":"2.0","id":0.0,"result":{"n":1},"error":null}`)
	if o := <-first; o.err != nil || o.value["n"] != 1 {
		t.Errorf("first call: %v", o)
	}
	if o := <-second; o.err != nil || o.value["n"] != 2 {
		t.Errorf("second call: %v", o)
	}
}

func TestConn_CallErrors(t *testing.T) {
	tests := []struct {
		name, answer string
		code         int // of the error; 0 if it is not a peer's answer
		text         string
		alsoAnswered bool // the answer is not a message, and the peer is told so
	}{
		{"error", `{"jsonrpc":"2.0","id":0,"error":{"code":-32002,"message":"none","data":[1]}}`, -32002, "call m: none (code -32002)", false},
		{"malformed error", `{"jsonrpc":"2.0","id":0,"error":"no"}`, -32603, "call m: the peer answered with a malformed error (code -32603)", false},
		{"other type", `{"jsonrpc":"2.0","id":0,"result":{"n":"x"}}`, 0, "decode the answer to m: json: cannot unmarshal string into Go value of type int", false},
		{"no version", `{"id":0,"result":{}}`, -32603, "call m: malformed response: the member \"jsonrpc\" must be \"2.0\" (code -32603)", true},
		{"both", `{"jsonrpc":"2.0","id":0,"result":{},"error":{}}`, -32603, "call m: malformed response: a response has either a result or an error (code -32603)", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, handler{}, rpc.Options{})
			done := p.call(t.Context(), "m", nil)
			p.receive()
			p.send(tt.answer)
			o := <-done
			if o.err == nil || o.err.Error() != tt.text {
				t.Errorf("error %v, want %s", o.err, tt.text)
			}
			var e *rpc.Error
			if errors.As(o.err, &e) != (tt.code != 0) || tt.code != 0 && e.Code != tt.code {
				t.Errorf("error %#v, want code %d", o.err, tt.code)
			}
			if tt.alsoAnswered {
				if got := p.receive(); got[:25] != invalid("null", "")[:25] {
					t.Errorf("received %s", got)
				}
			}
		})
	}
}

// A peer's refusal of our call is not passed on as if the peer's own request were at
// fault.
func TestConn_CallErrorInBody(t *testing.T) {
	var p *peer
	p = connect(t, handler{request: func(*rpc.Request) rpc.Body {
		return func(ctx context.Context) rpc.Reply {
			return rpc.Reply{Err: p.conn.Call(ctx, "terminal/create", nil, nil)}
		}
	}}, rpc.Options{})
	p.send(`{"jsonrpc":"2.0","id":8,"method":"session/prompt"}`)
	p.receive()
	p.send(`{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no such method"}}`)
	p.expect(failed("8", rpc.CodeInternalError, "call terminal/create: no such method (code -32601)"))
}

func TestConn_CallCancelled(t *testing.T) {
	p := connect(t, handler{}, rpc.Options{})
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := p.call(ctx, "session/request_permission", nil)
	p.expect(`{"jsonrpc":"2.0","method":"session/request_permission","id":0}`)
	cancel(stop)
	if o := <-done; !errors.Is(o.err, stop) {
		t.Errorf("Call: %v, want %v", o.err, stop)
	}
	p.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}`)
	p.send(`{"jsonrpc":"2.0","id":0,"result":{}}`) // late
	next := p.call(t.Context(), "next", nil)
	p.expect(`{"jsonrpc":"2.0","method":"next","id":1}`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":null}`)
	if o := <-next; o.err != nil {
		t.Errorf("next call: %v", o.err)
	}
}

func TestConn_CallAtEnd(t *testing.T) {
	p := connect(t, handler{}, rpc.Options{})
	done := p.call(t.Context(), "m", nil)
	p.receive()
	_ = p.in.Close()
	if o := <-done; !errors.Is(o.err, rpc.ErrClosed) {
		t.Errorf("pending Call: %v, want ErrClosed", o.err)
	}
	if err := p.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := p.conn.Call(t.Context(), "m", nil, nil); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("late Call: %v, want ErrClosed", err)
	}
	if err := p.conn.Notify("m", nil); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("late Notify: %v, want ErrClosed", err)
	}
}

func TestConn_CallBeforeRun(t *testing.T) {
	conn := rpc.New(nil, nil, handler{}, rpc.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := conn.Call(ctx, "m", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Call: %v", err)
	}
}
