package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
)

// The calls of subagents stand below and within the call that spawned them.
func TestDemoView_Nests(t *testing.T) {
	var out strings.Builder
	view := newDemoView(&out, strings.NewReader(""), true)
	show := func(update string) {
		view.Notify(schema.MethodSessionUpdate, fmt.Appendf(nil, `{"sessionId":"s","update":%s}`, update))
	}
	opened := func(id, parent, kind, title string) {
		show(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"kind":%q,"title":%q,"_meta":{"claudeCode":{"parentToolUseId":%q}}}`, id, kind, title, parent))
		show(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"in_progress"}`, id))
	}
	ended := func(id, status, text string) {
		show(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":%q,"content":[{"type":"content","content":{"type":"text","text":%q}}]}`, id, status, text))
	}
	opened("a", "", "other", "explore: look")
	opened("b", "a", "other", "explore › fix: mend")
	opened("c", "b", "execute", "explore › fix › make")
	show(`{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{"data":"built\n"}}}`)
	ended("c", "failed", "exit 1")
	ended("b", "completed", "mended")
	ended("a", "completed", "looked")
	want := `● explore: look
  ● explore › fix: mend
    ● explore › fix › make
    ✗ explore › fix › make
      exit 1

    mended
  ✓ explore › fix: mend

  looked
✓ done

`
	want = strings.Replace(want, "    ✗", "      built\n    ✗", 1)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}
