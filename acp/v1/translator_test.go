package v1

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

func startText(tr *translator) {
	tr.Emit(transcript.PartStarted{MessageID: "msg_2", PartID: "prt_1", Kind: transcript.TextKind})
}

func say(tr *translator, text string) { tr.Emit(transcript.PartDelta{PartID: "prt_1", Text: text}) }

// The first text is sent at once. Text of the next 4 ms is sent together when they are over;
// more than 4 KB is sent at once, and so is text that arrives after 4 ms.
func TestTranslator_Pacing(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		big := strings.Repeat("x", textBytes)
		startText(tr)
		say(tr, "a")
		time.Sleep(time.Millisecond)
		say(tr, "b")
		time.Sleep(time.Millisecond)
		say(tr, "c")
		time.Sleep(time.Second)
		say(tr, "d")
		say(tr, big)
		say(tr, "e")
		time.Sleep(time.Second)
		for range 3 {
			say(tr, "f")
			time.Sleep(textInterval + time.Millisecond)
		}

		type chunk struct {
			At   time.Duration
			Text string
		}
		want := []chunk{
			{0, "a"},
			{textInterval, "bc"},
			{time.Second + 2*time.Millisecond, "d"},
			{time.Second + 2*time.Millisecond, big},
			{time.Second + 2*time.Millisecond + textInterval, "e"},
			{2*time.Second + 2*time.Millisecond, "f"},
			{2*time.Second + 2*time.Millisecond + 5*time.Millisecond, "f"},
			{2*time.Second + 2*time.Millisecond + 10*time.Millisecond, "f"},
		}
		var got []chunk
		for _, n := range r.take() {
			got = append(got, chunk{n.at, n.text})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("chunks (-want +got):\n%s", diff)
		}
	})
}

// However the text is cut into deltas, all of it arrives, in order, in few updates.
func TestTranslator_TextWhole(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startText(tr)
		var want strings.Builder
		for i := range 2000 {
			text := fmt.Sprintf("%d é ", i)
			want.WriteString(text)
			say(tr, text)
			time.Sleep(time.Millisecond)
		}
		tr.Emit(transcript.PartEnded{PartID: "prt_1"})
		var got strings.Builder
		updates := r.take()
		for _, n := range updates {
			got.WriteString(n.text)
		}
		if got.String() != want.String() {
			t.Error("the text differs")
		}
		if most := int(2*time.Second/textInterval) + 2; len(updates) > most {
			t.Errorf("%d updates, want %d at most", len(updates), most)
		}
	})
}

// While the editor does not read, text gathers into updates of textBytes. The rest is sent when
// it reads again.
func TestTranslator_UnreadTextGathers(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startText(tr)
		r.pause()
		say(tr, "a") // nothing is unwritten before it
		for range 10 {
			time.Sleep(time.Second)
			say(tr, strings.Repeat("b", textBytes/5))
		}
		say(tr, "c")
		time.Sleep(time.Minute)
		if got, want := sizes(r.take()), []int{1, textBytes / 5 * 6}; !slices.Equal(got, want) {
			t.Errorf("updates of %d bytes while nothing is read, want %d", got, want)
		}
		r.resume()
		time.Sleep(unwrittenInterval + time.Millisecond)
		if got, want := sizes(r.take()), []int{textBytes/5*4 + 1}; !slices.Equal(got, want) {
			t.Errorf("updates of %d bytes then, want %d", got, want)
		}
	})
}

func sizes(updates []noted) []int {
	var list []int
	for _, n := range updates {
		list = append(list, len(n.text))
	}
	return list
}

// A burst of deltas becomes few updates, and text that streams while a command runs does not
// make its output arrive earlier.
func TestTranslator_FewUpdates(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startText(tr)
		for i := range 2000 {
			say(tr, "some words ")
			if i%20 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		tr.Emit(transcript.PartEnded{PartID: "prt_1"})
		if n := len(r.take()); n >= 50 {
			t.Errorf("%d updates for a burst of 2000 deltas in 100 ms", n)
		}
		startBash(tr.Emit)
		startText(tr)
		r.take()
		for range 20 {
			tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "line\n"})
			say(tr, "a")
			say(tr, "b")
			time.Sleep(5 * time.Millisecond)
		}
		outputs := 0
		for _, n := range r.take() {
			if n.text == "" {
				outputs++
			}
		}
		if outputs > 2 {
			t.Errorf("%d updates of the output in 100 ms", outputs)
		}
		endBash(tr.Emit, transcript.Done, "line", `{"exit_code":0}`)
	})
}

// Waiting text is sent before whatever follows it.
func TestTranslator_FlushesText(t *testing.T) {
	const waiting = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"},"messageId":"msg_2"}`
	tests := []struct {
		name string
		next transcript.Event
		want []string
	}{
		{
			"before a tool call",
			transcript.ToolStarted{MessageID: "msg_2", CallID: "call_1", Name: "read", Tool: "read", Card: label("read")},
			[]string{waiting, `{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Read file","name":"read","kind":"read","status":"pending","_meta":{"tool_name":"read"}}`},
		},
		{"at the end of its part", transcript.PartEnded{PartID: "prt_1"}, []string{waiting}},
		{"at the end of the turn", transcript.TurnFinished{TurnID: "trn_1", Reason: "abort"}, []string{waiting}},
		{
			"before another part",
			transcript.PartStarted{MessageID: "msg_3", PartID: "prt_2", Kind: transcript.ReasoningKind},
			[]string{waiting},
		},
		{
			"before the mode",
			transcript.ModeChanged{ModeID: "ask"},
			[]string{waiting, `{"sessionUpdate":"current_mode_update","currentModeId":"code"}`, `{"sessionUpdate":"config_option_update","configOptions":[]}`},
		},
		{"before the context's fill", transcript.UsageChanged{Used: 5, Size: 10}, []string{waiting, `{"sessionUpdate":"usage_update","used":5,"size":10}`}},
		{"a window that is not known is not told", transcript.UsageChanged{Used: 5}, []string{waiting}},
		{"before a title", transcript.TitleChanged{Title: "T", At: time.Unix(0, 0)}, []string{waiting, `{"sessionUpdate":"session_info_update","title":"T","updatedAt":"1970-01-01T00:00:00Z"}`}},
		{
			"before a plan",
			transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: "c", Priority: "high", Status: "pending"}}},
			[]string{waiting, `{"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]}`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
				startText(tr)
				say(tr, "a")
				say(tr, "b")
				if got := len(r.lines()); got != 1 {
					t.Fatalf("%d updates before", got)
				}
				tr.Emit(test.next)
				if diff := cmp.Diff(test.want, r.lines()); diff != "" {
					t.Errorf("updates (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestTranslator_ThoughtAndText(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		tr.Emit(transcript.PartStarted{MessageID: "msg_2", PartID: "prt_1", Kind: transcript.ReasoningKind})
		tr.Emit(transcript.PartStarted{MessageID: "msg_2", PartID: "prt_2", Kind: transcript.TextKind})
		for _, e := range []transcript.PartDelta{{PartID: "prt_1", Text: "t"}, {PartID: "prt_1", Text: "u"}, {PartID: "prt_2", Text: "x\xff"}, {PartID: "prt_9", Text: "y"}} {
			tr.Emit(e)
		}
		time.Sleep(time.Second)
		want := []string{
			`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"t"},"messageId":"msg_2"}`,
			`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"u"},"messageId":"msg_2"}`,
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x�"},"messageId":"msg_2"}`,
		}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}

// Nothing of a turn is sent after its end, whatever still waits (R153).
func TestTranslator_SilentAfterTurn(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startBash(tr.Emit)
		tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "a"})
		tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "b"}) // waits for the timer
		startText(tr)
		say(tr, "a")
		say(tr, "b")
		tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "error"})
		r.take()
		say(tr, "c")
		tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "c"})
		endBash(tr.Emit, transcript.Done, "late", `{}`)
		time.Sleep(time.Minute)
		if late := r.lines(); late != nil {
			t.Errorf("after the end of the turn: %q", late)
		}
	})
}

// quoted is the update of a warning in a client without notices.
func quoted(text string) string { return message("> " + text + "\n\n") }

// message is the update of a new, whole message.
func message(text string) string {
	return encoded(schema.AgentMessageChunk{Content: schema.TextContent{Text: text}, MessageID: "msg_new"})
}

// Many clients join the texts of all messages, so a warning has a blank line before and after
// it, and a message of the agent one before it.
func TestTranslator_OwnMessagesStandApart(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		warn := transcript.Notice{Severity: transcript.Warning, Text: "careful"}
		tr.Emit(warn)
		tr.Emit(warn)
		startText(tr)
		say(tr, "The answer is ")
		tr.Emit(warn)
		say(tr, "42.\n\n")
		tr.Emit(warn)
		say(tr, "Done.")
		tr.Emit(transcript.AgentSaid{Message: &transcript.Message{ID: "msg_new", Parts: []transcript.Part{&transcript.TextPart{Text: "It runs on.\n"}}}})
		tr.Emit(transcript.PartEnded{PartID: "prt_1"})
		part := func(text string) string { return encoded(textUpdate(transcript.TextKind, "msg_2", text)) }
		want := []string{
			quoted("careful"), quoted("careful"),
			part("The answer is "), message("\n\n> careful\n\n"),
			part("42.\n\n"), quoted("careful"),
			part("Done."), message("\n\nIt runs on.\n"),
		}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}

func TestTranslator_Notice(t *testing.T) {
	warning := transcript.Notice{Severity: transcript.Warning, Title: "Retrying", Text: "once more"}
	info := transcript.Notice{Severity: transcript.Info, Title: "Window", Text: "unknown"}
	tests := []struct {
		name   string
		client client
		notice transcript.Notice
		want   []string
	}{
		{"a warning as a message", client{}, warning, []string{quoted("once more")}},
		{"an info not at all", client{}, info, nil},
		{
			"what it quotes is no picture",
			client{},
			transcript.Notice{Severity: transcript.Warning, Text: `![x](http://a/b.png) \[y](z) <img>`},
			[]string{quoted(`!\[x](http://a/b.png) \\\[y](z) \<img>`)},
		},
		{
			"names of files are no emphasis",
			client{},
			transcript.Notice{Severity: transcript.Warning, Text: "pkg/__init__.py and a__b_c.go, **/*.go"},
			[]string{quoted(`pkg/\_\_init\_\_.py and a__b_c.go, \*\*/\*.go`)},
		},
		{
			"code stays code",
			client{},
			transcript.Notice{Severity: transcript.Warning, Text: "`_a_` lists _b_"},
			[]string{quoted("`_a_` lists \\_b\\_")},
		},
		{
			"a backquote opens nothing",
			client{},
			transcript.Notice{Severity: transcript.Warning, Text: "a` [b](c)"},
			[]string{quoted("a\\` \\[b](c)")},
		},
		{
			"several lines",
			client{},
			transcript.Notice{Severity: transcript.Warning, Text: "one\ntwo\n"},
			[]string{quoted("one\n> two")},
		},
		{"a warning as notice", client{notices: true}, warning, []string{`{"sessionUpdate":"notice","severity":"warning","title":"Retrying","description":"once more"}`}},
		{"an info as notice", client{notices: true}, info, []string{`{"sessionUpdate":"notice","severity":"info","title":"Window","description":"unknown"}`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inTurn(t, test.client, func(t *testing.T, tr *translator, r *recorder) {
				tr.Emit(test.notice)
				if diff := cmp.Diff(test.want, r.lines()); diff != "" {
					t.Errorf("updates (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestClip(t *testing.T) {
	tests := []struct {
		name, text string
		cut        bool
	}{
		{"short", "a", false},
		{"as long as may be", strings.Repeat("a", contentBytes), false},
		{"longer", strings.Repeat("a", contentBytes+1), true},
		{"within a character", strings.Repeat("a", contentBytes-1) + "é", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := clip(test.text)
			head, _, cut := strings.Cut(got, "\n…")
			if cut != test.cut || !utf8.ValidString(got) || len(head) > contentBytes || !strings.HasPrefix(test.text, head) {
				t.Errorf("cut %t, %d bytes", cut, len(head))
			}
		})
	}
}
