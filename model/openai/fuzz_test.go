package openai

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
	s := &step{yield: func(c model.Chunk) bool { list = append(list, c); return true }}
	return list, func() error { err = p.read(s, dog); return err }()
}

// However an answer is cut into reads, it says the same; what comes out is in
// order, and a finish comes once, at the end, or an error does.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n",
		"\uFEFF: c\r\ndata:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]},\"finish_reason\":\"stop\"}]}\r\n",
		"data: {\ndata: \"error\": \"x\"}\n\n",
		"{\n \"choices\": [{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"ä\"}]}, \"finish_reason\":\"stop\"}]\n}",
		"event: error\rdata: {}\r\r",
		"[{\"error\":{\"code\":\"429\"}}]",
		"<html>",
		"data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\",\"index\":0},{\"b\":null}],\"content\":\" <think>\\nx</think>\\n\"}}]}\n\n",
		"data: {\"choices\":[{\"delta\":{\"extra_content\":{\"google\":{\"thought_signature\":\"s\"}},\"tool_calls\":[{\"function\":{\"name\":\"f\"},\"extra_content\":{\"google\":{\"thought_signature\":\"s\"}}}]}}]}\n\n",
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
			if c.Replay != nil && !json.Valid(c.Replay) {
				t.Errorf("chunk %d wants back %s", i, c.Replay)
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
