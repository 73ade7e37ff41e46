package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"acp-agent/acp/rpc"
)

// chunk has the shape of an agent_message_chunk notification.
type chunk struct {
	SessionID string `json:"sessionId"`
	Update    update `json:"update"`
}

type update struct {
	Kind    string  `json:"sessionUpdate"`
	Content content `json:"content"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// BenchmarkNotify sends chunks of 1 KB.
func BenchmarkNotify(b *testing.B) {
	r, in := io.Pipe()
	conn := rpc.New(r, io.Discard, handler{}, rpc.Options{})
	run := make(chan error, 1)
	go func() { run <- conn.Run(b.Context()) }()
	params := &chunk{
		SessionID: "sess_0123456789",
		Update:    update{"agent_message_chunk", content{"text", strings.Repeat("some words of an answer ", 42)}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := conn.Notify("session/update", params); err != nil {
			b.Fatal(err)
		}
	}
	_ = conn.Flush(b.Context())
	_ = in.Close()
	<-run
}

// BenchmarkServe is a request of the peer, from its line to the line of the answer.
func BenchmarkServe(b *testing.B) {
	p := connect(b, handler{request: func(*rpc.Request) rpc.Body {
		return func(context.Context) rpc.Reply { return rpc.Reply{} }
	}}, rpc.Options{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":{"sessionId":"s"}}`, i))
		p.receive()
	}
}

// BenchmarkCall is a call of ours and the peer's answer.
func BenchmarkCall(b *testing.B) {
	p := connect(b, handler{}, rpc.Options{})
	go func() {
		lines := bufio.NewScanner(p.back)
		for lines.Scan() {
			var call struct {
				ID json.RawMessage `json:"id"`
			}
			if json.Unmarshal(lines.Bytes(), &call) != nil {
				return
			}
			if _, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", call.ID); err != nil {
				return
			}
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		if err := p.conn.Call(b.Context(), "m", nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInbound8MB is a prompt with an image of 8 MB, up to the handler.
func BenchmarkInbound8MB(b *testing.B) {
	line := `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"image","mimeType":"image/png","data":"` +
		strings.Repeat("QUJD", 2<<20) + `"}]}}` + "\n"
	p := connect(b, handler{request: func(*rpc.Request) rpc.Body {
		return func(context.Context) rpc.Reply { return rpc.Reply{} }
	}}, rpc.Options{})
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := io.WriteString(p.in, line); err != nil {
			b.Fatal(err)
		}
		p.receive()
	}
}
