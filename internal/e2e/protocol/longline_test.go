//go:build !race

package protocol

import (
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/testreq"
)

// TestRobust_LongLines is R145: a line of 32 MiB is served; one that is a byte
// longer is skipped and answered under its own id, wherever in the line that stands; the
// next is served in both cases. The short form has two of the lines.
func TestRobust_LongLines(t *testing.T) {
	t.Parallel()
	const limit = 32 << 20
	agent := acptest.Start(t, acptest.Options{Model: agenttest.Hello, Unjudged: true})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	for _, tc := range testreq.Pick(2, []struct {
		name, head, tail string
		size             int
		code             int
		id               string
	}{
		{"served", `{"jsonrpc":"2.0","id":"long","method":"_nothing","params":{"text":"`, `"}}`, limit, -32601, `"long"`},
		{"one more", `{"jsonrpc":"2.0","id":"long","method":"_nothing","params":{"text":"`, `"}}`, limit + 1, -32600, `"long"`},
		{"id at the end", `{"jsonrpc":"2.0","method":"_nothing","params":{"id":1,"text":"`, `\"},{\"id\":2"},"id":7}`, limit + 1, -32600, "7"},
		{"id at the end, far over", `{"jsonrpc":"2.0","method":"_nothing","params":{"text":"`, `"},"id":8}`, limit + 4<<20, -32600, "8"},
		{"batch", `[{"jsonrpc":"2.0","id":9,"method":"_nothing","params":{"text":"`, `"}}]`, limit + 1, -32600, "null"},
		{"notification", `{"jsonrpc":"2.0","method":"_nothing","params":{"text":"`, `"}}`, limit + 1, -32600, "null"},
	}) {
		t.Run(tc.name, func(t *testing.T) {
			agent.Skip()
			agent.Write(tc.head + strings.Repeat("x", tc.size-len(tc.head)-len(tc.tail)) + tc.tail)
			m := agent.Expect("the answer", func(m *acptest.Message) bool { return m.Error != nil })
			if m.Error.Code != tc.code || string(m.ID) != tc.id {
				t.Errorf("got id %s and %+v, want id %s and code %d", m.ID, m.Error, tc.id, tc.code)
			}
			session.Prompt("hello").Ends("end_turn")
		})
	}
}
