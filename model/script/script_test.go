package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/model"
	"acp-agent/model/script"
	"acp-agent/transcript"
)

func load(t testing.TB, text string) *script.Script {
	t.Helper()
	s, err := script.Load("test.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func user(text string) *transcript.Message {
	return &transcript.Message{Role: transcript.User, Finished: true, Parts: []transcript.Part{&transcript.TextPart{Text: text}}}
}

// conversation plays a script like a loop would, without running tools.
type conversation struct {
	provider model.Provider
	req      *model.Request
}

func talk(p model.Provider) *conversation {
	return &conversation{provider: p, req: &model.Request{Model: "script", Memo: &model.Memo{}}}
}

// step makes one step and returns it as text: thoughts in (), calls in [].
func (c *conversation) step(ctx context.Context) (string, error) {
	var b strings.Builder
	m := &transcript.Message{Role: transcript.Assistant, Finished: true}
	for chunk, err := range c.provider.Stream(ctx, c.req) {
		if err != nil {
			return b.String(), err
		}
		switch chunk.Kind {
		case model.Reasoning:
			fmt.Fprintf(&b, "(%s)", chunk.Text)
		case model.Text:
			b.WriteString(chunk.Text)
		case model.ToolCall:
			if chunk.Name != "" {
				m.Parts = append(m.Parts, &transcript.ToolPart{CallID: chunk.ID, Name: chunk.Name, State: transcript.Done, Result: &transcript.Envelope{}})
				fmt.Fprintf(&b, "[%s]", chunk.Name)
			}
			part := m.Parts[len(m.Parts)-1].(*transcript.ToolPart)
			part.Input += chunk.Arguments
			b.WriteString(chunk.Arguments)
		case model.Finish:
			if chunk.Reason == model.Length || chunk.Reason == model.Refusal {
				fmt.Fprintf(&b, "<%s>", chunk.Reason)
			}
		}
	}
	c.req.Messages = append(c.req.Messages, m)
	return b.String(), nil
}

// note has the agent itself say something.
func (c *conversation) note(text string) {
	m := user(text)
	m.Role, m.Synthetic = transcript.Assistant, true
	c.req.Messages = append(c.req.Messages, m)
}

func (c *conversation) say(text string) { c.req.Messages = append(c.req.Messages, user(text)) }

func (c *conversation) result(text, data string) {
	calls := c.req.Messages[len(c.req.Messages)-1].Calls()
	calls[len(calls)-1].Text = text
	calls[len(calls)-1].Result.Data = json.RawMessage(data)
}

func want(t *testing.T, c *conversation, answer string) {
	t.Helper()
	got, err := c.step(t.Context())
	if err != nil {
		t.Fatalf("wanted %q: %v", answer, err)
	}
	if got != answer {
		t.Errorf("got %q, want %q", got, answer)
	}
}

func wantError(t *testing.T, c *conversation, part string) *model.Error {
	t.Helper()
	got, err := c.step(t.Context())
	var e *model.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, part) {
		t.Fatalf("got %q and error %v, want an error with %q", got, err, part)
	}
	return e
}

func TestScript_MainSceneGoesOnOverPrompts(t *testing.T) {
	c := talk(load(t, `
# a comment
{"think": "hm", "say": "one", "call": [{"name": "read", "args": {"path": "a"}}]}
  # another
{
  "say": "two",
  "finish": "length"
}
{"say": "three", "repeat": 2}
{"say": "for ever", "repeat": -1}
`).Provider(script.Options{}))
	c.say("hello")
	want(t, c, `(hm)one[read]{"path":"a"}`)
	want(t, c, "two<length>")
	c.say("more")
	want(t, c, "three")
	c.say("more")
	want(t, c, "three")
	for range 3 {
		c.say("more")
		want(t, c, "for ever")
	}
}

func TestScript_ScenesStartAgainForEachPrompt(t *testing.T) {
	c := talk(load(t, `
{"say": "main 1"}
{"say": "main 2"}
{"when": "^list (\\w+)$", "say": "listing ${match.1}"}
{"say": "listed"}
{"system": "title", "say": "A title"}
`).Provider(script.Options{}))
	c.say("hello")
	want(t, c, "main 1")
	for range 2 {
		c.say("list files")
		want(t, c, "listing files")
		want(t, c, "listed")
	}
	c.say("hello")
	want(t, c, "main 2")
	c.req.System = "make a title"
	c.say("hello")
	want(t, c, "A title")
	wantError(t, c, `test.jsonl: no step is left for the prompt "hello"`)
}

func TestScript_ConversationsAreIndependent(t *testing.T) {
	p := load(t, `{"say": "1"}{"say": "2"}{"say": "3"}`).Provider(script.Options{})
	a, b := talk(p), talk(p)
	a.say("x")
	b.say("x")
	want(t, a, "1")
	want(t, a, "2")
	want(t, b, "1")
	want(t, a, "3")
	want(t, b, "2")
}

func TestScript_FailedStepIsSpent(t *testing.T) {
	c := talk(load(t, `
{"error": {"status": 429, "retry_after_ms": 10}, "repeat": 2}
{"say": "partial", "error": {"kind": "overflow", "message": "too long"}}
{"say": "done"}
`).Provider(script.Options{}))
	c.say("x")
	for range 2 {
		e := wantError(t, c, "status 429")
		if e.Kind != model.Transient || e.RetryAfter != 10*time.Millisecond || e.Interrupted {
			t.Errorf("got %+v", e)
		}
	}
	if e := wantError(t, c, "too long"); e.Kind != model.Overflow || !e.Interrupted {
		t.Errorf("got %+v", e)
	}
	want(t, c, "done")
}

func TestScript_LoadedConversationGoesOn(t *testing.T) {
	s := load(t, `
{"error": {"status": 500}}
{"say": "1"}
{"say": "2"}
{"error": {"status": 500}}
{"say": "3"}
{"when": "scene", "say": "s1"}
{"say": "s2"}
`)
	for _, memo := range []bool{true, false} {
		c := talk(s.Provider(script.Options{}))
		c.say("x")
		wantError(t, c, "500")
		want(t, c, "1")
		c.say("scene")
		want(t, c, "s1")
		c.req.Memo = nil // as after session/load
		want(t, c, "s2")
		c.say("x")
		want(t, c, "2")
		if memo {
			c.req.Memo = &model.Memo{}
		}
		wantError(t, c, "500")
		if memo {
			want(t, c, "3")
		} else {
			wantError(t, c, "500")
		}
	}
}

func TestScript_Until(t *testing.T) {
	s := load(t, `{"until": "${cwd}/go", "say": "gone"}`)
	looked := []string{}
	c := talk(s.Provider(script.Options{
		Cwd:    func(*model.Request) string { return "/work" },
		Exists: func(path string) bool { looked = append(looked, path); return len(looked) == 3 },
	}))
	c.say("x")
	want(t, c, "gone")
	if !slices.Equal(looked, []string{"/work/go", "/work/go", "/work/go"}) {
		t.Errorf("looked for %q", looked)
	}

	c = talk(s.Provider(script.Options{Cwd: func(*model.Request) string { return "/work" }}))
	c.say("x")
	wantError(t, c, "test.jsonl:1: until: there are no files here to wait for")

	ctx, cancel := context.WithCancel(t.Context())
	c = talk(s.Provider(script.Options{
		Cwd:    func(*model.Request) string { return "/work" },
		Exists: func(string) bool { cancel(); return false },
	}))
	c.say("x")
	if _, err := c.step(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a step that was cancelled while it waited ended with %v", err)
	}
}

// What the agent itself said is seen by the step and moves no conversation on: it is
// neither a prompt nor an answer.
func TestScript_Notes(t *testing.T) {
	s := load(t, `
{"say": "1"}
{"expect": {"told": "explore has ended", "not_told": "fix", "last_user": "x"}, "say": "2"}
{"expect": {"told": "`+model.NoteLabel+`\nfix has ended", "not_told": "explore", "last_user": "y", "messages": 6}, "say": "3"}
{"expect": {"not_told": "ended", "last_user": "z"}, "say": "4"}
{"when": "explore", "say": "the wrong scene"}
`)
	for _, loaded := range []bool{false, true} {
		c := talk(s.Provider(script.Options{}))
		play := func(text string) {
			t.Helper()
			if loaded {
				c.req.Memo = &model.Memo{} // as after session/load
			}
			want(t, c, text)
		}
		c.say("x")
		play("1")
		c.note("explore has ended") // within the turn
		play("2")
		c.note("fix has ended") // while nothing was asked
		c.say("y")
		play("3")
		c.say("z")
		play("4")
	}
}

func TestScript_Templates(t *testing.T) {
	s := load(t, `
{"call": [{"name": "read", "args": {"z": 1, "path": "${cwd}/a \"b\"", "all": ["${user}"]}}, {"name": "bad", "raw_args": "{\"x\": ${user}"}]}
{"say": "last ${last_result}, first ${result.0}, field ${result.1.list.1.name}, raw ${result.1.list}, $${not}"}
`)
	c := talk(s.Provider(script.Options{Cwd: func(*model.Request) string { return `C:\work` }}))
	c.say("say \"x\"\n")
	want(t, c, `[read]{"z":1,"path":"C:\\work/a \"b\"","all":["say \"x\"\n"]}`+"[bad]{\"x\": say \"x\"\n")
	c.result("second", `{"list":[{},{"name":"n"}]}`)
	want(t, c, `last second, first , field n, raw [{},{"name":"n"}], ${not}`)

	c = talk(s.Provider(script.Options{}))
	c.say("x")
	wantError(t, c, "test.jsonl:2: ${cwd} is not known here")
	wantError(t, c, "test.jsonl:3: ${last_result}: no tool was called")
}

func TestScript_Expect(t *testing.T) {
	tests := []struct{ name, expect, want string }{
		{"prompt", `{"last_user": "bye"}`, `expected "bye" in the prompt, got "hello"`},
		{"result", `{"last_result": "x"}`, `in the last result`},
		{"images", `{"last_images": 1}`, `expected 1 images with the last result, got 0`},
		{"system", `{"system": "x"}`, `in the system prompt, got "be good"`},
		{"not system", `{"not_system": "good"}`, `expected no "good"`},
		{"tool", `{"tools": ["read", "bash"]}`, `expected tool "bash", got ["read"]`},
		{"no tool", `{"no_tools": ["read"]}`, `expected no tool "read"`},
		{"model", `{"model": "x"}`, `expected model "x", got "script"`},
		{"told", `{"told": "calm"}`, `expected "calm" in the text that the agent put there, got "be kind"`},
		{"not told", `{"not_told": "kind"}`, `expected no "kind"`},
		{"messages", `{"messages": 2}`, `expected 2 messages, got 1`},
		{"temperature", `{"temperature": 0.2}`, `expected temperature 0.2, got none`},
		{"max_tokens", `{"max_tokens": 4000}`, `expected max_tokens 4000, got 0`},
		{"all well", `{"last_user": "ell", "told": "kind", "not_told": "calm", "system": "good", "tools": ["read"], "no_tools": ["bash"], "model": "script", "messages": 1}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := talk(load(t, `{"expect": `+tt.expect+`, "say": "ok"}`).Provider(script.Options{}))
			c.req.System, c.req.Tools = "be good", []model.Tool{{Name: "read"}}
			c.say("hello")
			last := c.req.Messages[0]
			last.Parts = append(last.Parts, &transcript.TextPart{Text: "be kind", Synthetic: true})
			if tt.want == "" {
				want(t, c, "ok")
				return
			}
			if e := wantError(t, c, tt.want); e.Kind != model.Invalid || !strings.HasPrefix(e.Message, "test.jsonl:1: ") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestScript_Chunks(t *testing.T) {
	p := load(t, `{"think": "ab", "say": "äöü!x", "call": [{"name": "n", "id": "i", "args": {"a": 1}}], "chunk": 4, "usage": {"input": 3, "output": 4}}`).
		Provider(script.Options{})
	var got []model.Chunk
	for c, err := range p.Stream(t.Context(), &model.Request{Model: "m"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	wanted := []model.Chunk{
		{Kind: model.Reasoning, Text: "ab"},
		{Kind: model.Text, Text: "äöü!"},
		{Kind: model.Text, Text: "x"},
		{Kind: model.ToolCall, ID: "i", Name: "n"},
		{Kind: model.ToolCall, ID: "i", Arguments: `{"a"`},
		{Kind: model.ToolCall, ID: "i", Arguments: `:1}`},
		{Kind: model.Usage, Usage: &transcript.Usage{Input: 3, Output: 4}},
		{Kind: model.Finish, Reason: model.ToolCalls, Model: "m"},
	}
	if diff := cmp.Diff(wanted, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error("(-want +got)\n", diff)
	}
}

func TestScript_BreakStops(t *testing.T) {
	c := talk(load(t, `{"say": "abc", "chunk": 1, "wait": "would hang"}`).Provider(script.Options{}))
	for range c.provider.Stream(t.Context(), c.req) {
		break
	}
}

func TestScript_WaitAndPauseEndWithTheContext(t *testing.T) {
	for name, step := range map[string]string{
		"wait":  `{"say": "abc", "wait": "for the cancel"}`,
		"pause": `{"say": "abc", "chunk": 2, "pause_ms": 3600000}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := talk(load(t, step).Provider(script.Options{}))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				got, err := c.step(ctx)
				if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(got, "ab") {
					t.Errorf("got %q and %v", got, err)
				}
			})
		})
	}
}

func TestLoad_Errors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown field", "{}\n{\"sya\": 1}", `test.jsonl:2: json: unknown field "sya"`},
		{"unknown field of a call", `{"call": [{"nam": ""}]}`, `test.jsonl:1: json: unknown field "nam"`},
		{"syntax", "{}\n\n{\"say\":\n\"x\"\n,}", "test.jsonl:5: invalid character"},
		{"unfinished", "{}\n{", "test.jsonl:2: unexpected EOF"},
		{"type", `{"say": 1}`, "test.jsonl:1: json: cannot unmarshal number"},
		{"regexp", `{"when": "("}`, "test.jsonl:1: error parsing regexp"},
		{"finish", `{"finish": "done"}`, `finish "done" is none of`},
		{"kind", `{"error": {"kind": "x"}}`, `error kind "x" is none of`},
		{"args twice", `{"call": [{"args": {}, "raw_args": ""}]}`, "call 0 has both args and raw_args"},
		{"variable", `{"say": "${pwd}"}`, "unknown variable ${pwd}"},
		{"variable in args", `{"call": [{"args": {"a": "${result.x}"}}]}`, "unknown variable ${result.x}"},
		{"open variable", `{"say": "${cwd"}`, `"${cwd" is not closed`},
		{"negative", `{"chunk": -1}`, "must not be negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := script.Load("test.jsonl", strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(`{"say": "a", "chunk": 1}` + "\n# c\n" + `{"when": "x", "call": [{"name": "n", "args": {"a": "${cwd}"}}], "repeat": -1}`)
	f.Add(`{"error": {"status": 429}}`)
	f.Add(`{"say": "${result.0.a} $${ ${match.1}"}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := script.Load("f", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error without a line: %v", err)
			}
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if strings.Contains(text, "wait") || strings.Contains(text, "pause") {
			cancel() // it might not end otherwise
		}
		c := talk(s.Provider(script.Options{Cwd: func(*model.Request) string { return "/" }}))
		c.say("x")
		for range 5 {
			var known *model.Error
			if _, err := c.step(ctx); err != nil && !errors.As(err, &known) && ctx.Err() == nil {
				t.Errorf("untyped error %v", err)
			}
		}
	})
}
