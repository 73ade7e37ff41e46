package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/compaction"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/model/anthropic"
	"acp-agent/model/openai"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// encoder has a real provider write a request, which no server sees.
type encoder struct {
	provider model.Provider
	memo     model.Memo
	body     []byte
}

// RoundTrip keeps the body of the request.
func (e *encoder) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	e.body, err = io.ReadAll(r.Body)
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, err
}

// encode writes a request; memo is what the provider keeps of the conversation.
func (e *encoder) encode(t *rapid.T, req model.Request, memo *model.Memo) []byte {
	req.Memo, e.body = memo, nil
	for range e.provider.Stream(context.Background(), &req) {
		continue
	}
	if e.body == nil {
		t.Fatal("no request was sent")
	}
	return e.body
}

func newEncoders(t *rapid.T) (chat, claude *encoder) {
	chat, claude = &encoder{}, &encoder{}
	one, err := openai.New(openai.Options{BaseURL: "http://127.0.0.1:1/v1", Transport: chat})
	two, err2 := anthropic.New(anthropic.Options{BaseURL: "http://127.0.0.1:1", Transport: claude})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	chat.provider, claude.provider = one, two
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	return chat, claude
}

// randomModel answers at random, and checks each request.
type randomModel struct {
	fakeModel
	t            *rapid.T
	b            *bench
	chat, claude *encoder
	last         []byte // the messages of the last request
	compactions  int    // before it
}

func (m *randomModel) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	t := m.t
	chat := m.chat.encode(t, *req, &m.chat.memo)
	m.checkStored(req, chat)
	checkChat(t, chat)
	checkClaude(t, m.claude.encode(t, *req, &m.claude.memo))
	m.checkPrefix(chat)
	return func(yield func(model.Chunk, error) bool) {
		if rapid.IntRange(0, 15).Draw(t, "fault") == 0 {
			yield(model.Chunk{}, overflow)
			return
		}
		if rapid.Bool().Draw(t, "counts") {
			yield(model.Chunk{Kind: model.Usage, Usage: &transcript.Usage{Input: len(chat) / 4}}, nil)
		}
		n := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "calls")
		if n == 0 || rapid.Bool().Draw(t, "says") {
			says(strings.Repeat("words ", rapid.IntRange(1, 200).Draw(t, "words")), model.Stop)(nil, func(c model.Chunk, err error) bool {
				return c.Kind == model.Finish || yield(c, err)
			})
		}
		names := []string{"read", "grep", "bash"}[:n]
		finish := model.Stop
		if len(names) > 0 {
			finish = model.ToolCalls
		}
		calls(finish, names...)(nil, yield)
	}
}

// checkStored checks that the conversation, stored and loaded, makes the same request.
func (m *randomModel) checkStored(req *model.Request, want []byte) {
	record := m.b.log.Record()
	if n := len(record) - 1; n >= 0 && !record[n].Finished { // the answer that begins now
		record = record[:n]
	}
	again := *req
	again.Messages = transcript.NewLog(modeltest.Stored(m.t, record)...).Messages()
	if got := m.chat.encode(m.t, again, &model.Memo{}); !bytes.Equal(got, want) {
		m.t.Fatalf("stored and loaded, the request is\n%s\nlive it is\n%s", got, want)
	}
}

// checkPrefix checks that a request begins as the one before it, unless the conversation was
// compacted.
func (m *randomModel) checkPrefix(body []byte) {
	var whole struct{ Messages json.RawMessage }
	if err := json.Unmarshal(body, &whole); err != nil {
		m.t.Fatal(err)
	}
	now := bytes.TrimSuffix(whole.Messages, []byte("]"))
	if n := count[transcript.Compacted](m.b); n == m.compactions {
		if !bytes.HasPrefix(now, m.last) {
			m.t.Fatalf("the request does not begin as the one before it:\n%s\n%s", m.last, now)
		}
	} else {
		m.compactions = n
	}
	m.last = bytes.Clone(now)
}

// checkChat checks what servers of Chat Completions refuse.
func checkChat(t *rapid.T, body []byte) {
	var req struct {
		Messages []struct {
			Role   string
			CallID string                `json:"tool_call_id"`
			Calls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	var open []string // calls without a result
	for i, m := range req.Messages {
		if m.Role == "tool" {
			if len(open) == 0 || open[0] != m.CallID {
				t.Fatalf("message %d is the result of %s, want one of %q:\n%s", i, m.CallID, open, body)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Fatalf("message %d comes before the results of %q:\n%s", i, open, body)
		}
		if m.Role == "assistant" && req.Messages[i-1].Role == "assistant" {
			t.Fatalf("message %d is a second answer:\n%s", i, body)
		}
		for _, call := range m.Calls {
			open = append(open, call.ID)
		}
	}
	if len(open) > 0 || req.Messages[1].Role != "user" {
		t.Fatalf("it begins with %s, and %q have no result:\n%s", req.Messages[1].Role, open, body)
	}
}

// checkClaude checks what Anthropic's API refuses.
func checkClaude(t *rapid.T, body []byte) {
	var req struct {
		Messages []struct {
			Role    string
			Content []struct {
				Type, ID string
				UseID    string `json:"tool_use_id"`
			}
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for i, m := range req.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			t.Fatalf("message %d is the %s's, want the %s's:\n%s", i, m.Role, want, body)
		}
		now := map[string]bool{}
		for _, block := range m.Content {
			switch block.Type {
			case "tool_use":
				now[block.ID] = true
			case "tool_result":
				if !used[block.UseID] {
					t.Fatalf("message %d has a result of %s, which was not called:\n%s", i, block.UseID, body)
				}
				delete(used, block.UseID)
			}
		}
		if len(used) > 0 {
			t.Fatalf("%v have no result:\n%s", used, body)
		}
		used = now
	}
}

// Whatever a conversation is made of, and however often it is compacted, each request is one
// that servers take, begins as the one before it unless the conversation was compacted in
// between, and is the same when the conversation is stored and loaded (R138, R139). Nothing
// leaves the record, and the prompt is always in sight.
func TestCompact_AnyConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench()
		m := &randomModel{t: t, b: b}
		m.chat, m.claude = newEncoders(t)
		window := rapid.SampledFrom([]int{0, 1_500, 3_000, 8_000, 16_000}).Draw(t, "window")
		b.tools.text = func(*pipeline.Prepared) string {
			return strings.Repeat("result ", rapid.SampledFrom([]int{1, 50, 400, 1_200}).Draw(t, "result"))
		}
		w := &writer{write: func(context.Context, string) (string, error) {
			if rapid.IntRange(0, 3).Draw(t, "writer") == 0 {
				return "", &model.Error{Kind: model.Invalid, Message: "broken"}
			}
			return "SUMMARY", nil
		}}
		said := 0
		for turn := range rapid.IntRange(1, 4).Draw(t, "turns") {
			before := len(b.log.Record())
			_, err := b.turn(context.Background(), fmt.Sprintf("prompt %d %s", turn, strings.Repeat("x", rapid.IntRange(0, 900).Draw(t, "prompt"))),
				compacts(w, window), func(o *loop.Options) { o.Provider, o.MaxSteps = m, 7 })
			if err != nil && model.AsError(err).Kind != model.Overflow && !strings.Contains(err.Error(), "empty answer") {
				t.Fatal(err)
			}
			if got := len(b.log.Record()); got <= before {
				t.Fatalf("the record had %d messages and has %d", before, got)
			}
			said++
			texts := 0
			for _, message := range b.log.Record() {
				if strings.HasPrefix(message.Typed(), "prompt ") {
					texts++
				}
			}
			if texts != said {
				t.Fatalf("the record has %d of %d prompts", texts, said)
			}
			if !strings.Contains(fmt.Sprint(texted(b.log.Messages())), fmt.Sprintf("prompt %d", turn)) {
				t.Fatalf("the model does not see what the user said last")
			}
			if rapid.IntRange(0, 5).Draw(t, "manual") == 0 {
				o := loop.Options{Provider: m, Tools: b.tools, Log: b.log, Sink: b, IDs: &transcript.IDs{}, Model: "m", Window: func() int { return window }, Writers: w.list}
				if _, _, err := loop.New(o).Compact(context.Background(), ""); err != nil && !errors.Is(err, compaction.ErrNothing) && model.AsError(err).Message != "broken" {
					t.Fatal(err)
				}
			}
		}
	})
}

func texted(messages []*transcript.Message) []string {
	var list []string
	for _, m := range messages {
		list = append(list, m.Text())
	}
	return list
}
