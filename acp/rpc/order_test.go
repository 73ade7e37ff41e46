package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"acp-agent/acp/rpc"
)

// Requests and notifications reach the handler in wire order, although request bodies
// run at once.
func TestConn_WireOrder(t *testing.T) {
	const pairs = 1000
	seen := make(chan string, 2*pairs)
	p := connect(t, handler{
		request: func(r *rpc.Request) rpc.Body {
			seen <- "request " + string(r.Params)
			return func(context.Context) rpc.Reply { return rpc.Reply{} }
		},
		notify: func(_ string, params json.RawMessage) { seen <- "notification " + string(params) },
	}, rpc.Options{})
	var lines []string
	for i := range pairs {
		lines = append(lines,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"r","params":[%d]}`, i, i),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":[%d]}`, i))
	}
	go p.send(lines...)
	replies := map[string]bool{}
	for range pairs {
		replies[p.receive()] = true
	}
	if len(replies) != pairs {
		t.Errorf("%d different replies, want %d", len(replies), pairs)
	}
	for i := range pairs {
		for _, kind := range []string{"request", "notification"} {
			if got, want := <-seen, fmt.Sprintf("%s [%d]", kind, i); got != want {
				t.Fatalf("handler saw %q, want %q", got, want)
			}
		}
	}
}

// What a body sends leaves before its reply, and what Then sends after it.
func TestConn_OrderAroundReply(t *testing.T) {
	var p *peer
	update := func(n int) {
		if err := p.conn.Notify("session/update", []int{n}); err != nil {
			t.Errorf("Notify: %v", err)
		}
	}
	p = connect(t, handler{request: func(*rpc.Request) rpc.Body {
		return func(context.Context) rpc.Reply {
			for n := range 100 {
				update(n)
			}
			return rpc.Reply{Then: func() { update(100) }}
		}
	}}, rpc.Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	for n := range 101 {
		if n == 100 {
			p.expect(result("1", "{}"))
		}
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":[%d]}`, n))
	}
}

func TestConn_NotifyParams(t *testing.T) {
	var none *struct{}
	tests := []struct {
		name   string
		method string
		params any
		want   string
	}{
		{"nil", "m", nil, `{"jsonrpc":"2.0","method":"m"}`},
		{"nil pointer", "m", none, `{"jsonrpc":"2.0","method":"m"}`},
		{"no HTML escapes", "m", map[string]string{"t": "a<b>&c"}, `{"jsonrpc":"2.0","method":"m","params":{"t":"a<b>&c"}}`},
		{"newlines stay inside", "m", []string{"a\nb"}, `{"jsonrpc":"2.0","method":"m","params":["a\nb"]}`},
		{"raw is made one line", "m", json.RawMessage("{\n\"a\": 1\n}"), `{"jsonrpc":"2.0","method":"m","params":{"a":1}}`},
		{"odd method", "m\"\n\u00fc", nil, `{"jsonrpc":"2.0","method":"m\"\n` + "\u00fc" + `"}`},
	}
	p := connect(t, echo, rpc.Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.tb = t
			if err := p.conn.Notify(tt.method, tt.params); err != nil {
				t.Fatal(err)
			}
			p.expect(tt.want)
		})
	}
	if err := p.conn.Notify("m", make(chan int)); err == nil {
		t.Error("a channel was encoded")
	}
}

func TestConn_OnLine(t *testing.T) {
	lines := make(chan string, 4)
	p := connect(t, echo, rpc.Options{OnLine: func(dir string, line []byte) { lines <- dir + " " + string(line) }})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.receive()
	got := strings.Join([]string{<-lines, <-lines}, "\n")
	want := `in {"jsonrpc":"2.0","id":1,"method":"m"}` + "\nout " + result("1", "{}")
	if got != want {
		t.Errorf("traced\n%s\nwant\n%s", got, want)
	}
}
