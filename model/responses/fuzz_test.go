package responses

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

func offline(tb testing.TB) *Provider {
	tb.Helper()
	chat, err := openai.New(openai.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	p, err := New(chat)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// chunks reads an answer without a connection.
func chunks(p *Provider, r io.Reader) (list []model.Chunk, err error) {
	dog := wire.NewWatchdog(wire.IdleTimeout, func(error) {})
	defer dog.Stop()
	dog.Body = r
	s := &step{origin: "o", yield: func(c model.Chunk) bool { list = append(list, c); return true }}
	return list, func() error { err = p.read(s, dog, "m"); return err }()
}

// However an answer is cut into reads, it says the same; what comes out is in order, what
// goes back is JSON, and a finish comes once, at the end, or an error does.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`data: {"type":"response.created","response":{"status":"in_progress","output":[]}}` + "\n\n" +
			`data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}` + "\n\n" +
			`data: {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"ä"}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x","status":null}}` + "\n\n" +
			`data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":""}}` + "\n\n" +
			`data: {"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}` + "\n\n" +
			`data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":3,"output_tokens":1}}}` + "\n\n",
		`{"object":"response","status":"completed","output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"a"}]},{"type":"web_search_call","id":"w"}]}`,
		`data: {"type":"response.output_text.delta","delta":"a"}` + "\n\n" + `data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}` + "\n\n",
		`data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}` + "\n\n",
		`data: {"type":"error","code":"1","message":"m"}` + "\n\n",
		`data: {"type":"response.function_call_arguments.delta","item_id":"x","delta":"{"}` + "\n\n" + `data: {"type":"response.completed"}` + "\n\n",
	} {
		f.Add([]byte(seed))
	}
	p := offline(f)
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
			if c.Replay != nil && (!json.Valid(c.Replay) || c.Origin != "o") {
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

// Whatever is kept for replay, what is written of it is JSON.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"type":"reasoning","id":"rs_1","encrypted_content":"x"}`), []byte(`{"type":"function_call","id":"fc_1","call_id":"c"}`))
	f.Add([]byte(`{"type":"message","id":"msg_1","phase":"p"}`), []byte(`null`))
	f.Add([]byte(`{"type":"web_search_call","id":"`+strings.Repeat("i", 70)+`","status":"completed"}`), []byte(`{"id":1}`))
	f.Fuzz(func(t *testing.T, thought, call []byte) {
		s := &style{origin: "o", images: true, rich: true}
		for _, stale := range []bool{false, true} {
			text := s.appendItems(nil, &transcript.Message{Role: transcript.Assistant, Origin: "o", Parts: []transcript.Part{
				&transcript.ReasoningPart{Replay: thought}, &transcript.TextPart{Text: "x"}, &transcript.ReasoningPart{Replay: thought},
				&transcript.ToolPart{Name: "f", Replay: call, State: transcript.Done},
			}}, stale)
			if !json.Valid([]byte("[" + strings.TrimSuffix(string(text), ",") + "]")) {
				t.Errorf("not JSON: %s", text)
			}
		}
	})
}

// What servers other than OpenAI send, and what is read of it.
func TestRead_OtherServers(t *testing.T) {
	event := func(list ...string) string {
		return "data: " + strings.Join(list, "\n\ndata: ") + "\n\n"
	}
	done := `{"type":"response.completed","response":{"status":"completed"}}`
	for _, tt := range []struct {
		name, answer string
		want         []string
	}{
		// "the call_id and name are empty in output_item.added": github.com/HEXUXIU/M365-Copilot2API/issues/77
		{
			"a name at the end", event(
				`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"","name":"","arguments":"","id":"fc_1"}}`,
				`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":"}`,
				`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"1}"}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"a\":1}","id":"fc_1"}}`, done),
			[]string{`call c1 read {"a":1}`},
		},
		// GitHub Copilot gives an item another id in each event: github.com/BerriAI/litellm/pull/30072
		{
			"ids that change", event(
				`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"a","content":[]}}`,
				`{"type":"response.output_text.delta","output_index":0,"item_id":"b","delta":"Hi"}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"c","content":[{"type":"output_text","text":"Hi"}]}}`, done),
			[]string{"text Hi"},
		},
		{
			"no numbers", event(
				`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c1","name":"read","id":"x"}}`,
				`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c2","name":"list","id":"y"}}`,
				`{"type":"response.function_call_arguments.delta","item_id":"x","delta":"{}"}`,
				`{"type":"response.function_call_arguments.done","item_id":"y","arguments":"[]"}`,
				`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c1","name":"read","id":"x","arguments":"{}"}}`, done),
			[]string{"call c1 read {}", "call c2 list []"},
		},
		{
			"one number for all", event(
				`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"read","id":"x"}}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"read","id":"x","arguments":"{}"}}`,
				`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"read","id":"y"}}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c2","name":"read","id":"y","arguments":"{}"}}`, done),
			[]string{"call c1 read {}", "call * read {}"},
		},
		{
			"no pieces", event(
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"T"}],"content":[{"type":"reasoning_text","text":"raw"}]}}`,
				`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"m","content":[{"type":"output_text","text":"Hi"},{"type":"refusal","refusal":"!"}]}}`, done),
			[]string{"thought T", "text Hi!"},
		},
		{"text of no item", event(`{"type":"response.output_text.delta","delta":"Hi"}`, done, "[DONE]"), []string{"text Hi"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := chunks(offline(t), strings.NewReader(tt.answer))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			calls := map[int]int{}
			for _, c := range list {
				switch c.Kind {
				case model.Text, model.Reasoning:
					kind := map[model.ChunkKind]string{model.Text: "text ", model.Reasoning: "thought "}[c.Kind]
					if c.Text == "" {
						continue
					}
					if n := len(got); n > 0 && strings.HasPrefix(got[n-1], kind) {
						got[n-1] += c.Text
						continue
					}
					got = append(got, kind+c.Text)
				case model.ToolCall:
					at, begun := calls[c.Index]
					if !begun {
						at = len(got)
						calls[c.Index] = at
						id := c.ID
						if len(id) > 10 {
							id = "*" // one of ours
						}
						got = append(got, "call "+id+" "+c.Name+" ")
					}
					got[at] += c.Arguments
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
