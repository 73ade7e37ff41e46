package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"acp-agent/acp/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handler is an rpc.Handler of functions; a missing one serves nothing.
type handler struct {
	request func(*rpc.Request) rpc.Body
	notify  func(method string, params json.RawMessage)
}

func (h handler) Request(r *rpc.Request) rpc.Body {
	if h.request == nil {
		return nil
	}
	return h.request(r)
}

func (h handler) Notify(method string, params json.RawMessage) {
	if h.notify != nil {
		h.notify(method, params)
	}
}

// echo answers every request with its parameters.
var echo = handler{request: func(r *rpc.Request) rpc.Body {
	return func(context.Context) rpc.Reply { return rpc.Reply{Result: r.Params} }
}}

// peer is the far end of a connection under test: it writes and reads raw lines.
type peer struct {
	tb   testing.TB
	conn *rpc.Conn
	in   *io.PipeWriter
	out  *bufio.Reader
	back *io.PipeReader
	run  chan error
}

func connect(tb testing.TB, h rpc.Handler, o rpc.Options) *peer {
	tb.Helper()
	r, in := io.Pipe()
	back, w := io.Pipe()
	p := &peer{
		tb: tb, in: in, back: back, out: bufio.NewReader(back), run: make(chan error, 1),
		conn: rpc.New(r, w, h, o),
	}
	go func() {
		err := p.conn.Run(tb.Context())
		_ = w.Close()
		p.run <- err
	}()
	tb.Cleanup(func() {
		_ = in.Close()
		_ = back.Close()
	})
	return p
}

// send writes lines in one piece.
func (p *peer) send(lines ...string) {
	p.tb.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.tb.Fatalf("send: %v", err)
	}
}

func (p *peer) receive() string {
	p.tb.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.tb.Fatalf("receive: %v (after %q)", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *peer) expect(want string) {
	p.tb.Helper()
	if got := p.receive(); got != want {
		p.tb.Fatalf("received\n %s\nwant\n %s", got, want)
	}
}

// ended waits for Run.
func (p *peer) ended() error {
	p.tb.Helper()
	select {
	case err := <-p.run:
		p.run <- err
		return err
	case <-time.After(time.Minute):
		p.tb.Fatal("Run did not return")
		return nil
	}
}

func invalid(id, message string) string {
	return failed(id, rpc.CodeInvalidRequest, message)
}

func failed(id string, code int, message string) string {
	text, _ := json.Marshal(message)
	n, _ := json.Marshal(code)
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + string(n) + `,"message":` + string(text) + `}}`
}

func result(id, raw string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + raw + `}`
}
