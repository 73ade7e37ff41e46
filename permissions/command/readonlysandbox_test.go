package command_test

import (
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions/command"
)

// Where a sandbox holds commands to reading, what their words come to is not asked about: it
// can make them read another file, and nothing else (R119, S7).
func TestJudge_LeftToReading(t *testing.T) {
	held := testEnv()
	held.Reading = func() bool { return true }
	for _, text := range []string{
		"cat $X", "X=$(ls); echo $X", `for f in $(ls); do wc -l "$f"; done`, "ls | xargs wc -l", `n=$(wc -l < a); ls | xargs -n "$n" cat`, "find . -name '*.go' | xargs grep -n x",
		`echo "exit: $?"`, "timeout 5 cat a", "time ls", "sleep 2 && cat a", `head -n $N a`, `sed -n '1,5p' -- "$f"`, `n=$(wc -l < a); sed -n "${n}p" a`, "grep -rn x private",
		"[[ -f $X ]] && cat $X", `if [ -f "$X" ]; then cat $X; fi`, "cat <<< $X", "awk '{print $1}' $X",
		"jq '.[] | select(.a == 1) | {b, c: (.d | length)}' a", `jq -r '.x["a b"] // empty' a`, "jq -s 'map(.n) | add' a*b", `jq .a "src/$X"`, `printf '%s\n' "$X"`, `printf "n: $X\n"`, `[ -n "$X" ] && ls`, `[ "$X" = a ] && ls`, `[ ! -f "$X" ] && ls`, `rg -n x -- "$X"`, `find "$X" -name a`, "find . -exec xxd {} \\;", "find . -exec uniq {} \\;", `awk -F "$X" '{print}' a`, `echo "${!X@}" "${X@Q}"`, "X=(a b); echo ${!X[@]}",
		"find . -exec cat {} +", `find . -name '*.go' -exec grep -n x {} \;`, "find . -exec sed -n 1p {} + -exec ls -l {} \\;", "diff . src", "diff -r a b", "diff <(ls) <(ls src)",
		`b=$(wc -c < a); echo "$b $((4096-b))"`, `n=$(ls | wc -l); [[ $n -gt 3 ]] && echo "$((n * 2 / 3))"`, `for i in 1 2; do sed -n "$((i+1))p" a; done`, `n=$(wc -l < a); [ $n -gt 3 ] && sed -n "2,${n}p" a`, `n=$(wc -l < a); printf "$n lines"`, "ls | xargs -I{} basename {}", "ls | xargs -I {} head -5 {}",
		"awk '{a[$1]++} END {for (k in a) print k}' a", "awk -v n=1 '{print $n}' a",
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
		"cat $X > a", "touch $X", "$X a", "sed -i s/a/b/ $X", "find . -name $X -delete", "find . -exec git -C {} status \\;", "find . -exec sort {} +", "find . -exec {} +", "find . -exec awk {} a \\;", "find . -exec awk 'BEGIN {} {print}' a \\;", "find . -exec sed -n {}p a \\;", "ls | xargs -I{} awk {} a", "ls | xargs -I 1 sed -n 1p a", "ls | xargs awk", "find . -exec sh -c 'cat {}' \\;",
		"find . -exec sed -i s/a/b/ {} +", "find . -exec cat a + -delete {} +", "find . -execdir cat {} +", "jq 'env' a", "jq '$ENV.HOME' a", `jq '"\(env.HOME)"' a`, `jq 'include "x"; .' a`, `jq 'import "x" as x; x::f' a`, "jq 'input_filename' a", `jq "$X" a`, "jq -L . . a", "jq -f a b", "jq --slurpfile x a . b", "find . -ok cat {} \\;", "find . -exec cat /srv/a \\;", `awk "{print $X}" a`, "awk -v NF=1000000000 1 a", "ls | xargs rm", "ls | xargs -I{} sh -c {}",
		"sort -o a $X", "rg --pre ./x y $X", "awk '{print > $1}' $X", "sed 'e id' $X", "eval $X", "bash -c $X", "python3 $X", "env X=1 ls", "exec cat $X",
		"cat $X &", "f() { cat $X; }; f", "cat $X | tee a", "cat $X /srv/a", "cat $X ../a", "make $X", "git show $X", "git log $X",
		"env -S 'ls -la'", "sleep 61", "sleep infinity", "exec 3< a", "cat ~bob/x", "cat ~bob/$X", "", "# a comment", "xargs",
		// variables that say what programs do
		"PATH=.; ls", "LD_PRELOAD=./x ls", "GIT_EXTERNAL_DIFF=./x git diff", "export BASH_ENV=./x; ls", "IFS=x; cat $X", "PAGER=./x git log",
		"for PATH in .; do ls $X; done", ": ${PATH:=.}; ls $X", "((PATH = 1)); ls $X", `declare "PATH=."; ls $X`, "declare -n X=PATH; X=.; ls $Y", "export $X; ls",
		// values that the shell takes for programs
		"X=$(cat a); echo $((X))", "X=$(cat a); [[ $X -eq 0 ]]", "X=$(wc -l a); echo $((X))", "X=1; X=$(cat a); echo $((X))", "X=1; for X in $(cat a); do echo $((X)); done", "echo $((X))",
		"X=1; : ${X:=$(cat a)}; echo $((X))", "X=$(wc -l < a)$(cat a); echo $((X))", "X=$(cat a; wc -l < a); echo $((X))", "X=1; echo $((X[$(cat a)]))", "X=1; echo $((Y=X))", "X=$(grep -c x a b); echo $((X))", "X=$(cat a); ((X))", "X=$(cat a); echo ${Y[X]}", "X=$(cat a); echo ${Y:X}", "[ -f $X ]", "[[ -v $X ]]",
		// options with which a program on the list starts another
		"find . $X", "rg $X", "ls | xargs rg x", "sort $X", "timeout $X cat a", "nice -n $X cat a", `env -S "$X"`, "ls | xargs time", "ls | parallel",
		`sed -n '1,5p' "$f"`, `sed -n 1p $X`, `sed -n "$(cat a)p" a`, `sed -n "${X}p" a`, `jq . "$X"`, "jq -s 'map(.n) | add' $X", `getconf "$X"`, `npm list "$X"`, `pip list "$X"`, `ls | xargs pip list`,
		`sort -t -- "$X"`, `rg -g -- "$X" a`, `cd $X; sort *`, `find "$X" sh a ';'`, `find . -name "$X" sh a ';'`, `cd "$X" && find * a`, "find . -exec grep $X {} +", `X=$(cat a); awk -F$X '{print}' f`, `awk -F 1 -v $X 1 a`, `awk -F 1 $X 1 a`,
		`find env -maxdepth 0 -exec jq -n {} \;`, "find a -exec xxd {} +", "find a -exec xxd -r {} +", "find a -exec uniq {} +", "find . -exec test -f {} \\;", "ls | xargs xxd", "ls | xargs xxd -r", "ls | xargs uniq", "ls | xargs jq -n", `ls | xargs -I "$X" cat sh a`, `ls | xargs --replace="$X" cat sh`, `ls | xargs -"$X" cat sh a`, "ls | xargs -I cat cat",
		// numbers that come to nothing, after which a word is another option, a script, a format or its file
		`n=$(wc -l < no); sed "s/a/\\$n/;s/e/b/" a`, `n=$(wc -l < no); sed "s/a/\\$n/;s/w x/b/" a`, `n=$(wc -l < no); sed "/[$n]/s/]/e id/" a`, `n=$(wc -l < no); sed -n $n 'e id' a`, `n=$(wc -l < no); sed "1,${n}p;2,${n}p;3,${n}p;4,${n}p;5,${n}p" a`,
		`n=$(wc -l < no); awk -F $n '{print}' 'BEGIN {system("id")}'`, `n=$(wc -l < no); awk -F$n '{print}' 'BEGIN {system("id")}'`, `n=$(wc -l < no); awk -F"$n" '{print}' 'BEGIN {system("id")}'`, `n=$(wc -l < no); rg -g $n -e --pre=./x y`, `n=$(wc -l < no); rg -g"$n" -e --pre=./x y`, `n=$(wc -l < no); printf $n %n 'a[$(id)]'`,
		`n=$(wc -l < no); ls | xargs -I $n cat sh a`, `n=$(wc -l < no); ls | xargs -I"$n" cat sh a`, `n=$(wc -l < no); ls | xargs -E $n cat sh a`,
		// words that may be an operator or a format
		`[ "$X" 'a[$(ls)]' ]`, `test "$X" a`, `[ "$X" a b ]`, `[ a "$X" b ]`, `[ -n a -a "$X" b ]`, `cd "$X"; [ * ]`, `printf "$X" 'a[$(ls)]'`, "printf $X", `printf -- "$X" a`, "ls | xargs printf",
		// values in which the shell runs substitutions
		`X=$(cat a); echo "${!X}"`, `X=$(cat a); echo "${X@P}"`, "X=$(cat a); Y[$X]=1; ls", "X=$(cat a); Y=([$X]=1); ls", "declare -i X=$(cat a); ls", "typeset -gi X; X=$(cat a); ls", "[[ -R $X ]]",
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
	held.Inside = func(path string) (string, bool) { return path, true }
	held.GitHoldsAddress = func(dir string) bool { return dir == "/opened" }
	held.HoldsAddress = func(path string) bool { return path == "/bare.git/config" }
	for text, want := range map[string]capability.Action{
		"cd /bare.git && od -c c*": ask, "cd /opened && od -c .git/c*": ask, "cd /opened/.git && od -c c*": ask, "cd /elsewhere && od -c .git/c*": allow, "od -c $X": allow,
	} {
		if v := command.Judge(text, held); v.Action != want {
			t.Errorf("%q, where git keeps a password in a directory that an answer has opened: %s (%s), want %s", text, v.Action, v.Reason, want)
		}
	}
	if v := command.Judge("cat $(cat .env)", held); v.Action != deny {
		t.Errorf("a secret that a word shows: %s (%s)", v.Action, v.Reason)
	}
}

// What a program says of itself is harmless where a sandbox holds it to reading: one on the PATH,
// outside the project. Until the project is trusted, it must heed nothing of it (T2).
func TestJudge_Explains(t *testing.T) {
	env := testEnv()
	env.Reading = func() bool { return true }
	env.Program = func(name string) (string, bool) {
		found, ok := map[string]string{"rg": "/usr/bin/rg", "terraform": "/opt/x/bin/terraform", "yarn": "/usr/bin/yarn", "node": "/usr/bin/node", "planted": "/w/planted", "jq": "/home/ann/bin/jq"}[name]
		return found, ok
	}
	for text, want := range map[string]struct{ trusted, untrusted bool }{
		"rg --help": {true, true}, "node --help": {true, true}, "terraform --version": {true, false}, "yarn --help | head": {true, false}, "jq --help": {true, false},
		"missing --version": {true, true}, "planted --version": {}, "./rg --help": {}, "terraform version": {}, "terraform -help": {}, "terraform apply --help": {}, "env --help": {}, "git --help": {}, "cd --help": {}, "rg --help > x": {}, "sudo --help": {},
	} {
		for _, untrusted := range []bool{false, true} {
			env.Untrusted = untrusted
			allowed := want.trusted
			if untrusted {
				allowed = want.untrusted
			}
			if v := command.Judge(text, env); (v.Action == allow) != allowed {
				t.Errorf("%q, untrusted %v: %s (%s)", text, untrusted, v.Action, v.Reason)
			}
		}
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
