package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"acp-agent/internal/record"
)

// The frames of a subagent and those of the main agent may change places, and so may the answer to a prompt
// that was answered beside an older one. The order of what one agent says may not, and what a killed process
// sent after the end of its recording is not a difference.
func TestRun_FreeOrder(t *testing.T) {
	update := func(text string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + text + `}}`
	}
	saysAs := func(message, text string) string {
		return update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":%q,"content":{"type":"text","text":%q}}`, message, text))
	}
	says := func(text string) string { return saysAs(text, text) }
	const queued, told = `look "Queued: %s"`, `look true`
	opens := func(call, parent string) string {
		return update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"status":"pending","_meta":{"claudeCode":{"parentToolUseId":%q}}}`, call, parent))
	}
	opensHost := func(call string) string {
		return update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"status":"pending","_meta":{"tool_name":"network"}}`, call))
	}
	ends := func(call string) string {
		return update(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed"}`, call))
	}
	runs := func(call, status, content string) string {
		return update(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q%s%s}`, call, status, content))
	}
	const running, output, other = `,"status":"in_progress"`, `,"content":["a"]`, `,"content":["b"]`
	asks := func(id int, text string) string {
		return fmt.Sprintf(`in {"id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":%q}]}}`, id, text)
	}
	answers := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }
	for _, test := range []struct {
		name          string
		recorded, now []string
		killed        bool
		differs       bool
	}{
		{name: "a subagent and the main agent", recorded: []string{asks(1, "go"), opens("a", "task"), ends("a"), says("hm"), answers(1)}, now: []string{says("hm"), opens("a", "task"), ends("a"), answers(1)}},
		{name: "a question about a host", recorded: []string{asks(1, "go"), says("hm"), opensHost("a"), says("oh"), ends("a"), answers(1)}, now: []string{opensHost("a"), says("hm"), ends("a"), says("oh"), answers(1)}},
		{name: "a question about a host after the turn", recorded: []string{asks(1, "go"), opensHost("a"), ends("a"), answers(1)}, now: []string{opensHost("a"), answers(1), ends("a")}, differs: true},
		{name: "a question about a host that ends before it starts", recorded: []string{asks(1, "go"), opensHost("a"), ends("a"), answers(1)}, now: []string{ends("a"), opensHost("a"), answers(1)}, differs: true},
		{name: "a notice of a prompt that waits", recorded: []string{asks(1, "go"), asks(2, "on"), queued, says("hm"), says("oh"), saysAs("q", "> Queued: `on`"), told, answers(1), answers(2)}, now: []string{says("hm"), saysAs("q", "\n\n> Queued: `on`"), saysAs("oh", "\n\noh"), answers(1), answers(2)}},
		{name: "another notice of a prompt that waits", recorded: []string{asks(1, "go"), asks(2, "on"), queued, says("oh"), saysAs("q", "> Queued: `on`"), told, answers(1), answers(2)}, now: []string{saysAs("q", "> Queued: `off`"), says("oh"), answers(1), answers(2)}, differs: true},
		{name: "no notice of a prompt that waits", recorded: []string{asks(1, "go"), asks(2, "on"), queued, says("oh"), saysAs("q", "> Queued: `on`"), told, answers(1), answers(2)}, now: []string{says("oh"), answers(1), answers(2)}, differs: true},
		{name: "a blank line between texts", recorded: []string{asks(1, "go"), saysAs("m", "one"), saysAs("n", "\n\ntwo"), answers(1)}, now: []string{saysAs("m", "one"), saysAs("n", "two"), answers(1)}},
		{name: "a blank line within a text", recorded: []string{asks(1, "go"), saysAs("m", "one\n\ntwo"), answers(1)}, now: []string{saysAs("m", "one\n\n"), saysAs("m", "two"), answers(1)}},
		{name: "a blank line more within a text", recorded: []string{asks(1, "go"), saysAs("m", "one two"), answers(1)}, now: []string{saysAs("m", "one\n\n two"), answers(1)}, differs: true},
		{name: "two texts", recorded: []string{asks(1, "go"), says("one"), says("two"), answers(1)}, now: []string{says("two"), says("one"), answers(1)}, differs: true},
		{name: "a call of the main agent", recorded: []string{asks(1, "go"), opens("a", ""), says("hm"), answers(1)}, now: []string{says("hm"), opens("a", ""), answers(1)}, differs: true},
		{name: "the first progress of a call joined to its start", recorded: []string{asks(1, "go"), opens("a", ""), runs("a", running, ""), runs("a", "", output), ends("a"), answers(1)}, now: []string{opens("a", ""), runs("a", running, output), ends("a"), answers(1)}},
		{name: "the first progress of a call by itself", recorded: []string{asks(1, "go"), opens("a", ""), runs("a", running, output), ends("a"), answers(1)}, now: []string{opens("a", ""), runs("a", running, ""), runs("a", "", output), ends("a"), answers(1)}},
		{name: "other progress at the start of a call", recorded: []string{asks(1, "go"), opens("a", ""), runs("a", running, output), ends("a"), answers(1)}, now: []string{opens("a", ""), runs("a", running, other), ends("a"), answers(1)}, differs: true},
		{name: "a call that does not start", recorded: []string{asks(1, "go"), opens("a", ""), runs("a", running, output), ends("a"), answers(1)}, now: []string{opens("a", ""), ends("a"), answers(1)}, differs: true},
		{name: "answered beside", recorded: []string{asks(1, "go"), asks(2, "/why"), opens("a", ""), answers(2), ends("a"), answers(1)}, now: []string{answers(2), opens("a", ""), ends("a"), answers(1)}},
		{name: "said beside", recorded: []string{asks(1, "go"), asks(2, "/why"), opens("a", ""), says("why"), answers(2), says("hm"), answers(1)}, now: []string{says("why"), opens("a", ""), says("hm"), answers(2), answers(1)}},
		{name: "said beside, but something else", recorded: []string{asks(1, "go"), asks(2, "/why"), opens("a", ""), says("why"), answers(2), answers(1)}, now: []string{says("how"), opens("a", ""), answers(2), answers(1)}, differs: true},
		{name: "two answers beside", recorded: []string{asks(1, "go"), asks(2, "/why"), asks(3, "/why"), says("one"), answers(2), says("two"), answers(3), answers(1)}, now: []string{says("two"), says("one"), answers(2), answers(3), answers(1)}},
		{name: "answered in order", recorded: []string{asks(1, "go"), opens("a", ""), ends("a"), answers(1)}, now: []string{answers(1), opens("a", ""), ends("a")}, differs: true},
		{name: "more than was recorded", recorded: []string{asks(1, "go"), answers(1)}, now: []string{answers(1), says("more")}, differs: true},
		{name: "more than a killed process recorded", recorded: []string{asks(1, "go"), answers(1)}, now: []string{answers(1), says("more")}, killed: true},
		{name: "other than a killed process recorded", recorded: []string{asks(1, "go"), says("hm"), answers(1)}, now: []string{says("oh"), answers(1)}, killed: true, differs: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var entries []record.Entry
				prompts, looks := 0, 0
				for _, line := range test.recorded {
					kind := record.Out
					if prompt, ok := strings.CutPrefix(line, "in "); ok {
						kind, line = record.In, prompt
						prompts++
					}
					if look, ok := strings.CutPrefix(line, "look "); ok {
						kind, line = record.Looked, look
						looks++
					}
					entries = append(entries, record.Entry{Kind: kind, Data: json.RawMessage(line)})
					if kind == record.Looked {
						entry := &entries[len(entries)-1]
						entry.Name, entry.Key = [...]string{"", queuedLook, toldLook}[looks], "s prompt 2"
					}
				}
				if !test.killed {
					entries = append(entries, record.Entry{Kind: record.InEnd}, record.Entry{Kind: record.Closed})
				}
				p := record.NewPlayer(&record.Recording{Entries: entries})
				result, err := Run(t.Context(), p, func(_ context.Context, in io.Reader, _ io.Writer, onLine func(string, []byte)) error {
					if looks > 0 {
						go func() {
							record.Look(record.PlayFrom(p), queuedLook, "s prompt 2", func() string { return "" })
							record.PlayFrom(p).Reach(toldLook, "s prompt 2")
						}()
					}
					read := 0
					for lines := bufio.NewScanner(in); lines.Scan(); {
						if read++; read < prompts {
							continue
						}
						for _, line := range test.now {
							onLine("out", []byte(line))
						}
					}
					return nil
				})
				if err != nil || (result.Difference != nil) != test.differs {
					t.Errorf("the difference is %+v, %v", result.Difference, err)
				}
			})
		})
	}
}

// A cancel has been handled before anything follows it in the recording.
func TestRun_LineIsHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := record.NewPlayer(&record.Recording{Entries: []record.Entry{
			{Kind: record.In, Data: json.RawMessage(`{"method":"session/cancel","params":{"sessionId":"s"}}`)},
			{Kind: record.Looked, Name: "cancelled", Data: json.RawMessage(`true`)},
			{Kind: record.InEnd},
			{Kind: record.Closed},
		}})
		cancelled, looked := false, make(chan struct{})
		_, err := Run(t.Context(), p, func(_ context.Context, in io.Reader, _ io.Writer, _ func(string, []byte)) error {
			go func() {
				defer close(looked)
				record.Look(record.PlayFrom(p), "cancelled", "", func() bool { return false })
				if !cancelled {
					t.Error("the look came before the cancel was handled")
				}
			}()
			for lines := bufio.NewScanner(in); lines.Scan(); {
				synctest.Wait() // all that can go on has gone on
				cancelled = true
			}
			<-looked
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// How full the context is may differ by the keys that a recording does not have, and by no more.
func TestComparison_EstimateWithoutKeys(t *testing.T) {
	usage := func(used string) any {
		return map[string]any{"params": map[string]any{"update": map[string]any{"used": json.Number(used)}}}
	}
	for _, test := range []struct {
		masks  int
		used   string
		differ bool
	}{
		{0, "1000", false},
		{0, "1001", true},
		{1, "1064", false},
		{1, "936", false},
		{1, "1065", true},
		{1, "many", true},
	} {
		if m := newComparison(test.masks).equal(usage("1000"), usage(test.used)); (m != nil) != test.differ {
			t.Errorf("%d keys, %s: %+v", test.masks, test.used, m)
		}
	}
	secret := &record.Recording{Entries: []record.Entry{{Data: json.RawMessage(`"[redacted]"`)}, {Data: json.RawMessage(`"none"`)}}}
	if n := secret.Masked(); n != 1 {
		t.Errorf("%d entries without their keys", n)
	}
}
