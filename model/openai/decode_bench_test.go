package openai

import (
	"strings"
	"testing"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// BenchmarkDelta reads one delta of a long answer: the share of a delta that is
// ours alone.
func BenchmarkDelta(b *testing.B) {
	const n = 2000
	event := `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":"word "},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	answer := strings.Repeat(event, n) + "data: [DONE]\n\n"
	p, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		dog := wire.NewWatchdog(wire.IdleTimeout, func(error) {})
		dog.Body = strings.NewReader(answer)
		if err := p.read(&step{yield: func(model.Chunk) bool { return true }}, dog); err != nil {
			b.Fatal(err)
		}
		dog.Stop()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/delta")
}

// BenchmarkBody writes the request after a hundred turns of 4 KB.
func BenchmarkBody(b *testing.B) {
	p, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	req := &model.Request{Model: "m", System: strings.Repeat("x", 8000), Memo: &model.Memo{}}
	for range 200 {
		req.Messages = append(req.Messages, &transcript.Message{
			Role: transcript.Assistant, Finished: true, Parts: []transcript.Part{&transcript.TextPart{Text: strings.Repeat("It says \"hello\".\n", 128)}},
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if body, _ := p.body(req, p.params(req), true); body.Size() < 400_000 {
			b.Fatal("too short")
		}
	}
}
