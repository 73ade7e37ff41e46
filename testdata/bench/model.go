package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"acp-agent/internal/testkit/modeltest"
)

// mock is the model server. Its answers are made before they are asked for, and but for
// the paced ones sent in a single write, so that little of what is measured is its own.
type mock struct {
	*modeltest.Server
	play atomic.Pointer[script]
}

// script answers one row's requests.
type script struct {
	asked  atomic.Int64
	answer func(n int, w http.ResponseWriter, r *http.Request)
}

func startMock() (*mock, error) {
	server, err := modeltest.Start()
	if err != nil {
		return nil, err
	}
	m := &mock{Server: server}
	server.HandleJSON("/v1/models", `{"object":"list","data":[{"id":"m","object":"model","max_model_len":1000000}]}`)
	server.Handle("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		s := m.play.Load()
		s.answer(int(s.asked.Add(1)-1), w, r)
	})
	return m, nil
}

// steps has the n-th request answered with the n-th text, and all later ones with the last.
func (m *mock) steps(texts ...string) {
	m.play.Store(&script{answer: func(n int, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, texts[min(n, len(texts)-1)])
	}})
}

// paced has events sent one by one, and sent told when.
func (m *mock) paced(n int, pace time.Duration, sent func(i int)) {
	m.play.Store(&script{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
		flush := http.NewResponseController(w)
		for i := range n {
			piece := event(map[string]any{"content": marker(i)})
			select {
			case <-time.After(pace):
			case <-r.Context().Done():
				return
			}
			sent(i)
			_, _ = io.WriteString(w, piece)
			_ = flush.Flush()
		}
		_, _ = io.WriteString(w, finish("stop"))
	}})
}

// stall says a word and then nothing until it is left.
func (m *mock) stall() {
	m.play.Store(&script{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, event(map[string]any{"content": "word"}))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}})
}

// marker is the i-th paced delta.
func marker(i int) string { return fmt.Sprintf("<%04d>", i) }

// event is one event of a stream, in the form of the real API.
func event(delta any) string {
	text, err := json.Marshal(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "m",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": nil}},
	})
	if err != nil {
		panic(err) // maps of strings
	}
	return "data: " + string(text) + "\n\n"
}

func finish(reason string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` +
		reason + "\"}]}\n\ndata: [DONE]\n\n"
}

// say is an answer of n equal deltas.
func say(piece string, n int) string {
	return strings.Repeat(event(map[string]any{"content": piece}), n) + finish("stop")
}

// calling is an answer that calls a tool once for each of the arguments.
func calling(id, tool string, arguments ...map[string]any) string {
	var b strings.Builder
	for i, a := range arguments {
		text, err := json.Marshal(a)
		if err != nil {
			panic(err) // maps of strings
		}
		b.WriteString(event(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call_%s_%d", id, i), "type": "function",
			"function": map[string]any{"name": tool, "arguments": string(text)},
		}}}))
	}
	return b.String() + finish("tool_calls")
}

// sequence is an answer to each of n requests that calls a tool once, and a last word.
func sequence(id, tool string, n int, arguments func(i int) map[string]any) []string {
	var texts []string
	for i := range n {
		texts = append(texts, calling(fmt.Sprint(id, i), tool, arguments(i)))
	}
	return append(texts, say("done", 1))
}
