package schema_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"acp-agent/acp/schema"
)

// BenchmarkEncodeChunk encodes an agent_message_chunk of 1 KB, built anew each time, as
// the translator does.
func BenchmarkEncodeChunk(b *testing.B) {
	text := strings.Repeat("some words of an answer ", 42)
	enc := json.NewEncoder(io.Discard)
	enc.SetEscapeHTML(false)
	b.ReportAllocs()
	for b.Loop() {
		err := enc.Encode(schema.SessionNotification{
			SessionID: "sess_0123456789",
			Update:    schema.AgentMessageChunk{Content: schema.TextContent{Text: text}, MessageID: "m1"},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodePrompt8MB decodes a prompt with an image of 8 MB.
func BenchmarkDecodePrompt8MB(b *testing.B) {
	raw := json.RawMessage(`{"sessionId":"s","prompt":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","data":"` +
		strings.Repeat("QUJD", 2<<20) + `"}]}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		var p schema.PromptRequest
		if err := schema.Decode(raw, &p); err != nil {
			b.Fatal(err)
		}
	}
}
