package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"acp-agent/acp/rpc"
)

// untilCancelled answers with the error of its context, once that is done.
func untilCancelled(started chan<- string) handler {
	return handler{request: func(r *rpc.Request) rpc.Body {
		return func(ctx context.Context) rpc.Reply {
			started <- string(r.ID)
			<-ctx.Done()
			return rpc.Reply{Err: fmt.Errorf("work: %w", ctx.Err())}
		}
	}}
}

// A cancellation in the same write as its request is never lost, and finds the request
// by the value of its id.
func TestConn_CancelFromPeer(t *testing.T) {
	tests := []struct{ name, id, cancel string }{
		{"number", "5", "5"},
		{"number, written otherwise", "5", "50e-1"},
		{"negative", "-5", "-5.0"},
		{"fraction", "1.5", "1.50"},
		{"zero", "0", "-0"},
		{"string", `"a"`, `"\u0061"`},
		{"huge", "18446744073709551615", "18446744073709551615"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, untilCancelled(make(chan string, 1)), rpc.Options{})
			p.send(
				`{"jsonrpc":"2.0","id":`+tt.id+`,"method":"m"}`,
				`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":`+tt.cancel+`}}`)
			p.expect(failed(tt.id, rpc.CodeRequestCancelled, "request cancelled"))
		})
	}
}

func TestConn_CancelFindsOnlyItsRequest(t *testing.T) {
	started := make(chan string, 2)
	p := connect(t, untilCancelled(started), rpc.Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":"1","method":"m"}`)
	<-started
	<-started
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"1"}}`)
	p.expect(failed(`"1"`, rpc.CodeRequestCancelled, "request cancelled"))
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
	p.expect(failed(`1`, rpc.CodeRequestCancelled, "request cancelled"))
}

func TestConn_DuplicateID(t *testing.T) {
	p := connect(t, untilCancelled(make(chan string, 2)), rpc.Options{})
	p.send(`{"jsonrpc":"2.0","id":10,"method":"m"}`, `{"jsonrpc":"2.0","id":1e1,"method":"m"}`)
	p.expect(invalid("1e1", "a request with this id is still running"))
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":10}}`)
	p.expect(failed("10", rpc.CodeRequestCancelled, "request cancelled"))
	p.send(`{"jsonrpc":"2.0","id":10,"method":"m"}`) // free again
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":10}}`)
	p.expect(failed("10", rpc.CodeRequestCancelled, "request cancelled"))
}

func TestConn_Errors(t *testing.T) {
	typed := &rpc.Error{Code: rpc.CodeResourceNotFound, Message: "no session", Data: map[string]string{"sessionId": "<s>"}}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"typed", typed, `{"code":-32002,"message":"no session","data":{"sessionId":"<s>"}}`},
		{"typed and wrapped", fmt.Errorf("load: %w", typed), `{"code":-32002,"message":"no session","data":{"sessionId":"<s>"}}`},
		{"data that cannot be encoded", &rpc.Error{Code: -1, Message: "m", Data: make(chan int)}, `{"code":-1,"message":"m"}`},
		{"plain", errors.New("disk full"), `{"code":-32603,"message":"disk full"}`},
		{"many lines", errors.New(" a\n\tb\r\nc "), `{"code":-32603,"message":"a b c"}`},
		{"empty", errors.New(""), `{"code":-32603,"message":"internal error"}`},
		{"empty typed", &rpc.Error{Code: -1}, `{"code":-1,"message":"internal error"}`},
		{"long", errors.New(strings.Repeat("é", 400)), `{"code":-32603,"message":"` + strings.Repeat("é", 250) + `…"}`},
		{"cancelled by itself", context.Canceled, `{"code":-32603,"message":"context canceled"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, handler{request: func(*rpc.Request) rpc.Body {
				return func(context.Context) rpc.Reply { return rpc.Reply{Err: tt.err} }
			}}, rpc.Options{})
			p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
			p.expect(`{"jsonrpc":"2.0","id":1,"error":` + tt.want + `}`)
		})
	}
}

func TestConn_ResultThatCannotBeEncoded(t *testing.T) {
	p := connect(t, handler{request: func(*rpc.Request) rpc.Body {
		return func(context.Context) rpc.Reply { return rpc.Reply{Result: make(chan int)} }
	}}, rpc.Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.expect(failed("1", rpc.CodeInternalError, "the result of m cannot be encoded"))
}

// A panic, wherever it happens, costs one request and is logged with its stack.
func TestConn_Panic(t *testing.T) {
	log := new(lockedBuffer)
	p := connect(t, handler{
		request: func(r *rpc.Request) rpc.Body {
			switch r.Method {
			case "prepare":
				panic("in prepare")
			case "body":
				return func(context.Context) rpc.Reply { panic("in body") }
			case "then":
				return func(context.Context) rpc.Reply { return rpc.Reply{Then: func() { panic("in then") }} }
			}
			return echo.Request(r)
		},
		notify: func(string, json.RawMessage) { panic("in notify") },
	}, rpc.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	p.send(`{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0","id":1,"method":"prepare"}`)
	p.expect(failed("1", rpc.CodeInternalError, "internal error while serving prepare"))
	p.send(`{"jsonrpc":"2.0","id":1,"method":"body"}`)
	p.expect(failed("1", rpc.CodeInternalError, "internal error while serving body"))
	p.send(`{"jsonrpc":"2.0","id":1,"method":"then"}`)
	p.expect(result("1", "{}"))
	p.send(`{"jsonrpc":"2.0","id":2,"method":"fine","params":[1]}`)
	p.expect(result("2", "[1]"))
	_ = p.in.Close()
	if err := p.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
	for _, want := range []string{"in notify", "in prepare", "in body", "in then", "serve_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %q", want)
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
