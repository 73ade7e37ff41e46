package command_test

import (
	"testing"

	"acp-agent/permissions/command"
)

// TestJudge_Review holds what was once allowed: expansions where the judge did not
// look, and text that the parser and the shell read differently.
func TestJudge_Review(t *testing.T) {
	rows := map[string][]string{
		"comments end with their line": {
			"echo hi # note \\\ntouch x", "echo hi # \\\nrm -rf y", "ls #\\\ntouch x", "(ls # a \\\ntouch x\n)", "echo 'a'\\\n#b; touch x", "echo a\\\n#b; touch x",
			"cat <<E\na\\\nE\ntouch x\nE", "cat <<'E'\na\\\nE\ntouch x\nE", "ls \\\n -l # note \\\ntouch x", "# a \\\\\ntouch x", "case a in # x \\\na) ls;; esac",
		},
		"patterns of case": {
			"case a in ${X[ls]:=/usr/bin/touch}) ;; *) ls P;; esac", "case a in ${CDPATH:=/etc}) ;; esac; cd a", "case a in $(touch x)) ls;; esac", "case a in $((x=1))) ls;; *) ls;; esac",
			`case a in "${X:=a}") ls;; esac`, "case a in @(a|b)) ls;; esac", "case a in $X) ls;; esac", "case a in a) ls;; ${X:=y}) ls;; esac", "case a in <(ls)) ls;; esac", "case a in $\"a\") ls;; esac",
		},
		"other words": {
			"for i in ${X:=a}; do ls; done", "select i in a; do ls; done", "cat <<< ${X:=a}", "cat <<E${X:=a}\nx\nE${X:=a}", "ls <${X:=a}", "ls 2>${X:=/dev/null}", "a[${X:=1}]=1 ls", "[[ ${X:=a} ]]",
			"[[ a == ${X:=a} ]]", "((x)) ; ls", "coproc ${X:=a}", "f() { ls; } <${X:=a}", "cat <<E\n${X:=a}\nE", "if ls <<<${X:=a}; then ls; fi", "{ ls; } <${X:=a}", "{fd}<a ls", "ls {fd}>/dev/null",
		},
		"printf sets variables": {
			"printf 12345%n PATH; ls", "printf '%s%n' a PATH", "printf %*n 1 PATH", "printf '%-5n' PATH", "printf '%ln' X", "printf '%(%s)T' 1", "printf '%*s' 3 a", "printf \"$X\" a", "printf '\\x25n' X", "printf -v X a", "printf -- '%n' X",
		},
		"options with an optional value": {
			"od -c -w /etc/passwd", "od -w /etc/passwd", "od -c -w16 a", "git blame --abbrev a", "git diff --stat --unified /etc/passwd", "git diff --stat -U /etc/passwd", "grep x --context /etc/passwd",
			"git diff --stat --stat-width /etc/passwd", "git log --since /etc/passwd", "git describe --abbrev --dirty=x --contains", "diff --color /etc/passwd a",
		},
		"files with more arguments": {"strings @/etc/passwd", "strings '@/etc/passwd'", "strings -a -- @/etc/passwd", "strings -n @/etc/passwd a", "strings a @/etc/passwd", "strings a --bytes @/etc/passwd"},
		"options after an operand":  {"awk '{print}' -Fx/../../y", "awk '{print}' -F /etc/passwd", "head a -n /etc/passwd", "sort a -k /etc/passwd", "cat a --number -- /etc/passwd"},
		"logical and physical cd": {
			"true && cd out && cd .. && cat x", "true && cd src && cd .. && cat x", "cd ..", "pushd ..", "cd src; ls ..", "cd src && git -C .. status", "cd src/.. && ls", "cd src/../src && ls", "cd /w/..",
		},
		"values that are the next word":     {"tree -Po '*.go' x", "tree -Io x y", "tree -Lo 2 x", "tree -aPo a b"},
		"tildes in words like assignments":  {"cat a=~/x", "ls a=~", "cat x=y:~/z", "cd a=~; cat x", "cat a=b=~"},
		"members that are evaluated":        {"jq '. | .[env.HOME]' a", "jq '.|.[input_filename]' a", "jq '.a | .[halt]' a", "jq '. | .[env]' a", "jq '. | .[input]' a"},
		"files that a test or a date names": {"test -a /etc/shadow", "[ -a /etc/hosts ]", "[ ! -a /etc/hosts ]", "[ x -o -a /etc/hosts ]", "date -d 'TZ=\"/etc/x\" 1 day'", "date --date='TZ=\":/etc/x\" now'"},
		"programs that check signatures":    {"git branch --sort=signature", "git tag -l --sort=-signature:grade", "git branch --sort=signature --sort=refname"},
		"loops that move":                   {"while test -f a; do cat x; \\cd out; done", "until ls x; do cat x; 'cd' out; done", "while ls; do cat x; c\\d src; done"},
		"globs of grep": {
			"cat -- --include=*/.en?", "cat --include=*", "grep -- x --include=*/.en?", "grep -- x --include=*", "grep x --include=*/.en? a", "ls --exclude=*", "cat --include=*.go", "grep x -- --exclude-dir=* a",
		},
		"directories of diff": {
			"diff -N . src", "diff . src", "diff a src", "diff src a", "diff -N a b", "diff --new-file a b", "diff -uN a b", "diff a out", "diff -r a b", "diff --recursive a b", "diff --exclude=x a b", "cd src; diff a b",
		},
		"secrets of history": {
			"git diff", "git diff HEAD~1", "git diff --cached", "git show HEAD", "git show", "git show --stat HEAD:a", "git show --stat deadbeef", "git show --stat main", "git show --stat :a", "git log -p", "git log -u", "git log --patch",
			"git log -L1,5:a", "git log -p -- ':(glob).en?'", "git log --stat -- ':(glob).en?'", "git log -Sx", "git log -S x", "git log -Gx", "git log -c", "git log --cc", "git log -m", "git log --patch-with-stat", "git log --raw", "git log --word-diff",
			"git log --color-words", "git log --binary", "git diff --stat -p", "git diff --stat --check", "git diff --submodule", "git status -v", "git status -vv", "git status --verbose", "git stash show", "git stash show -p", "git stash list -p",
			"git cat-file -p HEAD", "git blame a", "git ls-files -s", "git ls-files --stage", "git ls-files -- ':(glob)*'", "git status --porcelain=v2", "git tag -l --format='%(raw)'", "git branch --format '%(contents)'", "git grep x", "git archive HEAD",
			"git rev-parse :a", "git annotate a", "git difftool", "git format-patch -1",
		},
	}
	for name, texts := range rows {
		t.Run(name, func(t *testing.T) {
			for _, text := range texts {
				if v := command.Judge(text, testEnv()); v.Action == allow {
					t.Errorf("%q is allowed", text)
				}
			}
		})
	}
	var cases []judgeCase
	for _, text := range []string{
		"ls # a \\ b", "ls \\\n -la", "cat <<'E'\na \\ b\nE", "ls # a\n# b\npwd", "case a in a|b*) ls;; \"c\") pwd;; *) ls;; esac", "printf '%s: %5.2f\\n' a 1", "printf 'a\\tb%%\\n'", "printf hello",
		"od -c a", "od -A x -N 10 a", "awk -F: '{print $1}' a", "grep -rn x src --include=*.go", "grep x src -A 3", "diff a b", "diff -u a b", "cd src && ls", "cd src && cat a", "head a -n 5", "cut -d / -f 1 a",
		"tree -aL 2 src", "tree -P '*.go' src", "jq '.a | .b[0].\"c d\"' a", "jq '.[] | keys' a", "jq '.. | type' a", "[ -f a -a -f b ]", "[ a = b -o -d src ]", "date -d yesterday +%F", "git branch --sort=-committerdate", "git log HEAD~1", "echo a=b~c",
		"git status", "git status --porcelain", "git status -s", "git log", "git log --oneline -5", "git log --stat -n 3 main", "git log --format='%h %s'", "git diff --stat", "git diff --name-only HEAD~1", "git diff --shortstat", "git diff --cached --name-status",
		"git branch", "git branch --format='%(refname:short)'", "git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", "git ls-files", "git show --stat", "git show --name-only HEAD~2", "git stash list", "git remote -v", "git describe --tags",
	} {
		cases = append(cases, judgeCase{text: text, want: allow})
	}
	t.Run("still allowed", func(t *testing.T) { runCases(t, cases) })
}
