package builtin

import (
	"strings"
	"testing"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestReadThread(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Threads = &stored{list: []tools.Thread{{ID: "ses_1", Title: "The cart"}}}
	result, err := rt.Run(t.Context(), newReadThread(), "read_thread", `{"id":"ses_1"}`)
	if err != nil || !strings.Contains(result.Text, "A cart.") {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := rt.Run(t.Context(), newReadThread(), "read_thread", `{"id":"ses_2"}`); err == nil {
		t.Error("a conversation that is not there is read")
	}
}

func TestThreads_NothingIsStored(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	for id, tool := range map[string]tools.Tool{"find_thread": newFindThread(), "read_thread": newReadThread()} {
		if _, err := rt.Run(t.Context(), tool, id, `{"id":"ses_1"}`); err == nil || tool.Lacks(tools.Services{}) == "" {
			t.Errorf("%s: %v", id, err)
		}
	}
}
