package builtin

import (
	"testing"

	"acp-agent/tools"
)

func TestFinder(t *testing.T) {
	t.Parallel()
	wantConsulted(t, newFinder(), `{"query":"where tokens are counted"}`, tools.Delegation{Agent: "finder", Prompt: "where tokens are counted"})
}
