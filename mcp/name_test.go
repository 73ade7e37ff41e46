package mcp

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/tools"
)

// R89: whatever servers and tools are called, an id is one that providers take, no two
// become one, and it tells the server from the tool.
func TestToolID(t *testing.T) {
	names := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z_.-]{0,70}`), rapid.SampledFrom([]string{"", "a", "A", "a_", "_a", "a__b", "a b", "a.b", "read"}))
	rapid.Check(t, func(t *rapid.T) {
		server, tool, otherServer, otherTool := names.Draw(t, "server"), names.Draw(t, "tool"), names.Draw(t, "other server"), names.Draw(t, "other tool")
		id, other := toolID(serverID(server), tool), toolID(serverID(otherServer), otherTool)
		if _, err := tools.NewRegistry(tools.Tool{
			Spec: tools.Spec{ID: id, Description: "d", Source: tools.Source{Kind: tools.MCP}},
			Run:  func(context.Context, tools.Runtime, tools.Args) (*tools.Result, error) { return nil, nil },
		}); err != nil {
			t.Fatalf("%q of %q: %v", tool, server, err)
		}
		if head, _, ok := strings.Cut(strings.TrimPrefix(id, "mcp__"), "__"); !ok || head != serverID(server) {
			t.Fatalf("%q of %q is %s, whose server reads %s", tool, server, id, head)
		}
		if same := server == otherServer && tool == otherTool; (id == other) != same {
			t.Fatalf("%q of %q and %q of %q: %s and %s", tool, server, otherTool, otherServer, id, other)
		}
	})
}
