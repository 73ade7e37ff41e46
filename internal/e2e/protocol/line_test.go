package protocol

import (
	"fmt"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
)

// TestRobust_Lines is R145: whatever comes in a line, it gets the right answer,
// and the next line is served.
func TestRobust_Lines(t *testing.T) {
	t.Parallel()
	agent := acptest.Start(t, acptest.Options{Model: agenttest.Hello})
	agent.Initialize("")
	agent.Skip()
	const request = `{"jsonrpc":"2.0","id":%s,"method":"_nothing"}`
	for _, tc := range []struct {
		name, line, id string
		code           int
	}{
		{"garbage", "hello", "null", -32700},
		{"truncated", `{"jsonrpc":"2.0","id":9,"method":"_not`, "null", -32700},
		{"two values", `{"jsonrpc":"2.0","id":9,"method":"_nothing"}{}`, "null", -32700},
		{"trailing comma", `{"jsonrpc":"2.0","id":9,"method":"_nothing",}`, "null", -32700},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"_\xff\"}", "null", -32700},
		{"NUL", "\x00", "null", -32700},
		{"NUL within", "{\"jsonrpc\":\"2.0\",\x00\"id\":9,\"method\":\"_nothing\"}", "null", -32700},
		{"byte order mark", "\ufeff{}", "null", -32700},
		{"header", "Content-Length: 12", "null", -32700},
		{"empty batch", "[]", "null", -32600},
		{"batch", "[" + fmt.Sprintf(request, "9") + "]", "null", -32600},
		{"number", "7", "null", -32600},
		{"null", "null", "null", -32600},
		{"empty object", "{}", "null", -32600},
		{"no version", `{"id":9,"method":"_nothing"}`, "9", -32600},
		{"version 1", `{"jsonrpc":"1.0","id":9,"method":"_nothing"}`, "9", -32600},
		{"method of a number", `{"jsonrpc":"2.0","id":9,"method":7}`, "9", -32600},
		{"empty method", `{"jsonrpc":"2.0","id":9,"method":""}`, "9", -32600},
		{"method and result", `{"jsonrpc":"2.0","id":9,"method":"_nothing","result":{}}`, "9", -32600},
		{"deep", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "null", -32600},
		{"id null", fmt.Sprintf(request, "null"), "null", -32600},
		{"id object", fmt.Sprintf(request, "{}"), "null", -32600},
		{"id true", fmt.Sprintf(request, "true"), "null", -32600},
		{"id negative", fmt.Sprintf(request, "-5"), "-5", -32601},
		{"id zero", fmt.Sprintf(request, "0"), "0", -32601},
		{"id fraction", fmt.Sprintf(request, "1.5"), "1.5", -32601},
		{"id large", fmt.Sprintf(request, "18446744073709551615"), "18446744073709551615", -32601},
		{"id text", fmt.Sprintf(request, `"7"`), `"7"`, -32601},
		{"id empty text", fmt.Sprintf(request, `""`), `""`, -32601},
		{"carriage return", fmt.Sprintf(request, "9") + "\r", "9", -32601},
		{"space around", "  " + fmt.Sprintf(request, "9") + "\t", "9", -32601},
		{"unknown members", `{"jsonrpc":"2.0","id":9,"method":"_nothing","x":1}`, "9", -32601},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(agent.Lines())
			agent.Write(tc.line)
			m := agent.Expect("an answer to "+tc.name, func(m *acptest.Message) bool { return m.IsResponse() })
			if m.Error == nil || m.Error.Code != tc.code || string(m.ID) != tc.id {
				t.Errorf("got id %s and %+v, want id %s and code %d", m.ID, m.Error, tc.id, tc.code)
			}
			agent.Request("_next", nil).Fails(-32601, "_next")
			agent.Expect("the answer after it", func(m *acptest.Message) bool { return m.IsResponse() })
			if got := len(agent.Lines()) - before; got != 4 {
				t.Errorf("%d lines went over the wire, want the line, its answer, and those of the next: 4", got)
			}
		})
	}
	// Lines without an answer.
	for _, line := range []string{"", "   ", "\r", `{"jsonrpc":"2.0","method":"_nothing"}`, `{"jsonrpc":"2.0","id":77,"result":{}}`} {
		agent.Write(line)
	}
	session := agent.NewSession(t.TempDir())
	session.Prompt("hello").Ends("end_turn")
}
