package builtin

import (
	"testing"

	"acp-agent/tools"
)

// Files are named in the prompt, each in one line; the subagent reads them itself.
func TestOracle(t *testing.T) {
	t.Parallel()
	wantConsulted(t, newOracle(), `{"task":"why?","context":"it hangs","files":["a.go"," ","b\nc.go"]}`, tools.Delegation{
		Agent: "oracle", Prompt: "why?\n\nFiles to begin with:\n- a.go\n- b c.go", Context: "it hangs",
	})
	wantConsulted(t, newOracle(), `{"task":"why?"}`, tools.Delegation{Agent: "oracle", Prompt: "why?"})
}
