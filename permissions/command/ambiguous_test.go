package command_test

import (
	"testing"

	"acp-agent/permissions/command"
)

// TestJudge_Ambiguous holds what becomes of a text that the shell may read differently: it
// is asked about whatever the rules allow, no pattern of an allow matches it, "always" is
// not offered, and no sandbox answers for it.
func TestJudge_Ambiguous(t *testing.T) {
	for _, text := range []string{
		"cat <<\"E\\\"F\"\nx\nE\"F\ntouch x\nE\\\"F\n", "cat <<''#;touch x\n#\n\n", "cat <<é\né\ntouch x\né\n", "ls # a \\\ntouch x", "ls 999999999999>&1", "ls a\u00a0b", "l\\\ns", "npm test; cat <<é\né\ntouch x\né\n",
		"[[ a == @($(touch x)) ]]", "ls ${a:-<(touch x)}", "echo \"${a:-'$(touch x)'}\"", "cat <<E\n${a:-'$(touch x)'}\nE", "npm test; echo $(( '`touch x`' ))",
	} {
		v := command.Judge(text, testEnv())
		if v.Action != ask || v.Class != command.Ambiguous || !v.Validation {
			t.Errorf("%q is %s (%s: %s), validation %t", text, v.Action, v.Class, v.Reason, v.Validation)
		}
		for _, p := range v.Parts {
			if p.Static || p.Always != nil || p.Sandboxable() {
				t.Errorf("%q: the part %q is static %t, always %q, contained %t", text, p.Text, p.Static, p.Always, p.Sandboxable())
			}
		}
	}
}
