package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// chunks reads an answer without a connection.
func chunks(p *Provider, r io.Reader) (list []model.Chunk, err error) {
	dog := wire.NewWatchdog(wire.IdleTimeout, func(error) {})
	defer dog.Stop()
	dog.Body = r
	s := &step{origin: "o", yield: func(c model.Chunk) bool { list = append(list, c); return true }}
	return list, func() error { err = p.read(s, dog); return err }()
}

// However an answer is cut into reads, it says the same; what comes out is in order, blocks
// of thinking are whole, and a finish comes once, at the end, or an error does.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"x\"}}\n\n" +
			"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":1}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{\"a\":1}}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"ä\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\ndata: [DONE]\n\n",
		"event: ping\ndata: {\"type\": \"ping\"}\n\n<html>",
	} {
		f.Add([]byte(seed))
	}
	p, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		whole, err := chunks(p, bytes.NewReader(answer))
		byBytes, errBytes := chunks(p, iotest.OneByteReader(bytes.NewReader(answer)))
		if len(whole) != len(byBytes) || (err == nil) != (errBytes == nil) {
			t.Fatalf("whole: %d chunks, %v; in bytes: %d, %v", len(whole), err, len(byBytes), errBytes)
		}
		var known *model.Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("untyped error %v", err)
		}
		ids := map[int]string{}
		for i, c := range whole {
			if !utf8.ValidString(c.Text) {
				t.Errorf("chunk %d is not UTF-8", i)
			}
			if c.Replay != nil && (!json.Valid(c.Replay) || c.Origin != "o" || c.Kind != model.Reasoning) {
				t.Errorf("chunk %d has the replay %s of %q", i, c.Replay, c.Origin)
			}
			if c.Kind == model.ToolCall {
				if id, seen := ids[c.Index]; c.ID == "" || seen && id != c.ID || !seen && c.Index != len(ids) {
					t.Errorf("chunk %d: call %d has id %q", i, c.Index, c.ID)
				}
				ids[c.Index] = c.ID
			}
			if (c.Kind == model.Finish) != (err == nil && i == len(whole)-1) {
				t.Errorf("chunk %d of %d is %+v, error %v", i, len(whole), c, err)
			}
		}
		if err == nil && len(whole) == 0 {
			t.Error("neither a finish nor an error")
		}
	})
}

// Servers document their addresses in several forms; all lead to the same path.
func TestAddress(t *testing.T) {
	for base, want := range map[string]string{
		"":                                    "https://api.anthropic.com/v1/messages",
		"https://api.anthropic.com/":          "https://api.anthropic.com/v1/messages",
		"https://api.anthropic.com/v1":        "https://api.anthropic.com/v1/messages",
		"https://api.example.com/v1/messages": "https://api.example.com/v1/messages",
		"https://api.deepseek.com/anthropic":  "https://api.deepseek.com/anthropic/v1/messages",
		"https://api.z.ai/api/anthropic/":     "https://api.z.ai/api/anthropic/v1/messages",
		"http://localhost:8080?version=2026":  "http://localhost:8080/v1/messages?version=2026",
	} {
		p, err := New(Options{BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.address("messages").String(); got != want {
			t.Errorf("%s is asked at %s, want %s", base, got, want)
		}
	}
}
