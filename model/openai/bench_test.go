package openai_test

import (
	"testing"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/model/openai"
)

// BenchmarkStream_Deltas streams 2000 deltas; the server's work is in it.
func BenchmarkStream_Deltas(b *testing.B) {
	s := modeltest.New(b, modeltest.Step{Text: "word ", Pieces: 2000, Repeat: -1})
	p := provider(b, s)
	b.ReportAllocs()
	for b.Loop() {
		chunks := 0
		for _, err := range p.Stream(b.Context(), request()) {
			if err != nil {
				b.Fatal(err)
			}
			chunks++
		}
		if chunks != 2001 {
			b.Fatal(chunks)
		}
	}
}

// BenchmarkStep_Turn100 makes a step after a hundred turns of 4 KB, as it is
// and without what the conversation keeps.
func BenchmarkStep_Turn100(b *testing.B) {
	for _, memo := range []bool{true, false} {
		name := "kept"
		if !memo {
			name = "anew"
		}
		b.Run(name, func(b *testing.B) {
			s := modeltest.New(b, modeltest.Step{Text: "a", Repeat: -1})
			p := provider(b, s, func(o *openai.Options) { o.Window = nil })
			req := request(conversation(100, 4096)...)
			b.ReportAllocs()
			for b.Loop() {
				if !memo {
					req.Memo = &model.Memo{}
				}
				for _, err := range p.Stream(b.Context(), req) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
