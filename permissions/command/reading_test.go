package command_test

import (
	"testing"

	"acp-agent/permissions/command"
)

// Where a sandbox holds commands to reading, what their words come to is not asked about: it
// can make them read another file, and nothing else (R119, S7).
func TestJudge_LeftToReading(t *testing.T) {
	held := testEnv()
	held.Reading = func() bool { return true }
	for _, text := range []string{
		"cat $X", "X=$(ls); echo $X", `for f in $(ls); do wc -l "$f"; done`, "ls | xargs wc -l", "find . -name '*.go' | xargs grep -n x",
		`echo "exit: $?"`, "timeout 5 cat a", "time ls", "sleep 2 && cat a", `head -n $N a`, `sed -n '1,5p' "$f"`, "grep -rn x private",
		"[[ -f $X ]] && cat $X", `if [ -f "$X" ]; then cat $X; fi`, "cat <<< $X", "awk '{print $1}' $X",
	} {
		if v := command.Judge(text, held); v.Action != allow {
			t.Errorf("%q: %s (%s), want allow", text, v.Action, v.Reason)
		}
		if v := command.Judge(text, testEnv()); v.Action != ask {
			t.Errorf("%q without such a sandbox: %s (%s), want ask", text, v.Action, v.Reason)
		}
	}
	for _, text := range []string{
		// more than words that are only known when it runs
		"cat $X > a", "touch $X", "$X a", "sed -i s/a/b/ $X", "find . -name $X -delete", "find . -exec cat {} +", "ls | xargs rm", "ls | xargs -I{} sh -c {}",
		"sort -o a $X", "rg --pre ./x y $X", "awk '{print > $1}' $X", "sed 'e id' $X", "eval $X", "bash -c $X", "python3 $X", "env X=1 ls", "exec cat $X",
		"cat $X &", "f() { cat $X; }; f", "cat $X | tee a", "cat $X /srv/a", "cat $X ../a", "make $X", "git show $X", "git log $X",
		"env -S 'ls -la'", "sleep 61", "sleep infinity", "exec 3< a", "cat ~bob/x", "cat ~bob/$X", "", "# a comment", "xargs",
		// variables that say what programs do
		"PATH=.; ls", "LD_PRELOAD=./x ls", "GIT_EXTERNAL_DIFF=./x git diff", "export BASH_ENV=./x; ls", "IFS=x; cat $X", "PAGER=./x git log",
		"for PATH in .; do ls $X; done", ": ${PATH:=.}; ls $X", "((PATH = 1)); ls $X", `declare "PATH=."; ls $X`, "declare -n X=PATH; X=.; ls $Y", "export $X; ls",
		// values that the shell takes for programs
		"X=$(cat a); echo $((X))", "X=$(cat a); [[ $X -eq 0 ]]", "X=$(cat a); ((X))", "X=$(cat a); echo ${Y[X]}", "X=$(cat a); echo ${Y:X}", "[ -f $X ]", "[[ -v $X ]]",
		// options with which a program on the list starts another
		"find . $X", "rg $X", "ls | xargs rg x", "sort $X", "timeout $X cat a", "nice -n $X cat a", `env -S "$X"`, "ls | xargs time", "ls | parallel",
		// places and secrets that a word shows
		"X=~/a; cat $X", "for f in ~/a ~/b; do cat $f; done", "X=.env; cat $X",
		// no bound, or read in two ways
		"while true; do cat $X; done", "seq 1 1000000000 | grep $X", "rm -rf $X",
	} {
		if v := command.Judge(text, held); v.Action == allow {
			t.Errorf("%q is allowed", text)
		}
	}
	held.GitHoldsAddress = func(dir string) bool { return dir == "/w" }
	if v := command.Judge("od -c $X", held); v.Action != ask {
		t.Errorf("where git keeps a password: %s (%s), want ask", v.Action, v.Reason)
	}
	if v := command.Judge("cat $(cat .env)", held); v.Action != deny {
		t.Errorf("a secret that a word shows: %s (%s)", v.Action, v.Reason)
	}
}

// A rule about some commands cannot be held against a part to which words are added when it runs.
func TestVerdict_Open(t *testing.T) {
	for text, want := range map[string]bool{
		"cat a": false, "cat $X": true, "xargs cat < a": true, "find . -exec cat {} +": true, "timeout 5 cat a": false,
	} {
		open := false
		for _, r := range command.Judge(text, testEnv()).Resources() {
			open = open || r.Judged.Open
		}
		if open != want {
			t.Errorf("%q: open %v, want %v", text, open, want)
		}
	}
}
