package builtin

import (
	"testing"

	"acp-agent/tools"
)

func TestKraken(t *testing.T) {
	t.Parallel()
	wantConsulted(t, newKraken(), `{"prompt":"rename A to B","files":["x.go","y.go"]}`, tools.Delegation{
		Agent: "kraken", Prompt: "rename A to B\n\nFiles to begin with:\n- x.go\n- y.go",
	})
}
