package command_test

import (
	"testing"

	"acp-agent/permissions/command"
)

// A filter of jq in a file is judged as one in the text is, by what the file has at the judgement.
func TestJudge_ScriptFile(t *testing.T) {
	scripts := map[string]string{
		"/w/name.jq": ".name", "/w/long.jq": "# what it does\n[.[] | select(.a == 1)]\n  | add\n", "/w/env.jq": ".a | env", "/w/import.jq": `import "x" as x; .`,
		"/w/deep.jq": "[.. | ..]", "/w/a": ".a", "/w/notes.txt": ".a",
		"/w/r": ".a", "/w/-r": ".a", "/w/1": ".a", // what stands in for a word that is not known
	}
	outside := testEnv()
	outside.Script = func(name string) (string, bool) {
		text, ok := scripts[name]
		if name == "/w/notes.txt" {
			t.Error("a link to a secret is read")
		}
		return text, ok
	}
	reading := outside
	reading.Reading = func() bool { return true }
	for _, text := range []string{"cp env.jq name.jq && jq -f name.jq a", "for i in 1 2; do jq -f name.jq a; cp env.jq name.jq; done", "git checkout b; sh -c 'jq -f name.jq a'", "cat a | jq -f name.jq > name.jq"} {
		for _, p := range command.Judge(text, reading).Parts {
			if p.Argv != nil && p.Argv[0] == "jq" && p.Action == allow {
				t.Errorf("%q: %q is allowed", text, p.Text)
			}
		}
	}
	for text, want := range map[string]struct{ outside, reading bool }{
		"jq -f name.jq a": {true, true}, "jq -rf name.jq a": {true, true}, "jq -r --from-file name.jq a": {true, true}, "jq --from-file=name.jq a": {true, true}, "cat a | jq -f name.jq": {true, true},
		"jq -rf long.jq a": {false, true}, "head -5 a | jq -rf long.jq | head -3": {false, true},
		"jq -f env.jq a": {}, "jq -f import.jq a": {}, "jq -f deep.jq a": {}, "jq -f missing.jq a": {},
		"jq -fr env.jq a": {}, "jq -fn env.jq": {}, "jq -f -r env.jq a": {}, "jq -f -- env.jq a": {}, "jq -fname.jq a": {}, "jq -nrf name.jq": {true, true},
		"jq a -f name.jq": {}, "jq a -rf name.jq": {}, "jq -f name.jq -f a b": {}, "jq -f name.jq a -n": {}, "jq -f notes.txt a": {}, "jq -f name.jq .env": {},
		"jq -f /srv/x.jq a": {}, "jq -f ../x.jq a": {}, "jq -f $X a": {}, `jq -f "$X" a`: {}, "jq -f n*.jq a": {}, "ls | xargs jq -f name.jq": {},
		"ls | xargs -I{} jq -f {} a": {}, "ls | xargs -I a.jq jq -f a.jq a": {}, "ls | xargs jq -f": {}, "find . -exec jq -f {} a \\;": {}, "find . -exec jq -f {} +": {},
		"for f in $(ls); do jq -f $f a; done": {}, `jq -f "1$X" a`: {}, "jq -f 1 $X": {}, "jq $X -f 1 a": {}, "find . -exec jq -f 1 {} \\;": {}, "cd $X; jq -f name.jq a": {},
	} {
		if v := command.Judge(text, outside); (v.Action == allow) != want.outside {
			t.Errorf("%q: %s (%s)", text, v.Action, v.Reason)
		}
		if v := command.Judge(text, reading); (v.Action == allow) != want.reading {
			t.Errorf("%q in a sandbox for reading: %s (%s)", text, v.Action, v.Reason)
		}
	}
}
