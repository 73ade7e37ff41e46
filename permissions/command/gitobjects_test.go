package command_test

import (
	"testing"

	"acp-agent/permissions/command"
)

// What git keeps of the content of files is hidden from a text that may read any file; where git
// itself needs it beside that, the text is asked about (P8, S7).
func TestVerdict_HidesObjects(t *testing.T) {
	env := testEnv()
	env.Reading = func() bool { return true }
	for text, want := range map[string]struct{ allowed, hides bool }{
		`base64 "$(echo .git/x)"`: {true, true}, "cat $X": {true, true}, "ls | xargs cat": {true, true}, "cat < $X": {true, true},
		"find . -exec cat {} +": {true, true}, "rg -a x": {true, true}, `for f in $(git ls-files); do cat "$f"; done`: {true, true}, `cd "$(git rev-parse --show-toplevel)" && ls`: {true, true},
		"grep -rn x src": {true, false}, "cat a": {true, false}, "git log --oneline": {true, false}, "echo $X": {true, false}, `git log --oneline | awk '{a[$1]++} END {for (k in a) print k}'`: {true, false},
		`echo "$(git log -1 --oneline)"`: {true, false}, "git log --oneline 2>/dev/null | head -3": {true, false},
		`git log --oneline; base64 "$X"`: {}, "cat $(git log -1 --name-only)": {}, "git log --name-only | xargs cat": {}, `cd "$X"; cat a; git log`: {}, "git log; base64 < $X": {}, "git log --oneline; rg -a x": {},
	} {
		v := command.Judge(text, env)
		if v.Action == allow != want.allowed || v.HidesObjects != want.hides {
			t.Errorf("%q: %s (%s), hides %v, want %v", text, v.Action, v.Reason, v.HidesObjects, want)
		}
	}
}
