package builtin

import (
	"testing"

	"acp-agent/tools"
)

func TestLibrarian(t *testing.T) {
	t.Parallel()
	wantConsulted(t, newLibrarian(), `{"query":"how does it retry?","context":"version 3"}`, tools.Delegation{
		Agent: "librarian", Prompt: "how does it retry?", Context: "version 3",
	})
}
