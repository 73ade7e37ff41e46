package command_test

import (
	"io/fs"
	"slices"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions/command"
)

// treeEnv is testEnv with directories that can be listed.
func treeEnv() command.Env {
	env := testEnv()
	tree := map[string][]string{
		"/w":         {".env", ".git", "a", "b", "src", "docs", "notes.txt", "out", "x y.md", "-n.md", "it's.md"},
		"/w/src":     {"main.go", "main_test.go", "util.go", "sub"},
		"/w/src/sub": {"deep.go", "id_rsa"},
		"/w/docs":    {"a.md", "b.md"},
		"/w/.git":    {"config"},
	}
	env.List = func(dir string) ([]string, error) {
		resolved, inside := env.Inside(dir)
		names, there := tree[resolved]
		switch {
		case !inside:
			return nil, fs.ErrPermission
		case !there:
			return nil, fs.ErrNotExist
		}
		return names, nil
	}
	return env
}

// TestJudge_WritesOutExpansions holds what runs in the place of a text of which all that
// the shell would expand is known.
func TestJudge_WritesOutExpansions(t *testing.T) {
	for _, tt := range []struct{ text, run string }{
		{"cat src/*.go", "cat 'src/main.go' 'src/main_test.go' 'src/util.go'"},
		{"wc -l docs/{a,b}.md", "wc -l 'docs/a.md' 'docs/b.md'"},
		{"head -n 3 src/m*[nt].go", "head -n 3 'src/main.go' 'src/main_test.go'"},
		{"ls */*.go", ""}, // one of the directories leads outside
		{"ls [s]*/*.go", "ls 'src/main.go' 'src/main_test.go' 'src/util.go'"},
		{"ls src/**/deep.go", "ls 'src/sub/deep.go'"},
		{"ls s?c/", "ls s?c/"},
		{"cd src && cat m*.go", "cd src && cat 'main.go' 'main_test.go'"},
		{"grep -n x no/*.md", "grep -n x 'no/*.md'"},
		{"cat *s.md", "cat 'it'\\''s.md'"},
		{"cat x*.md", "cat 'x y.md'"},
		{"for f in docs/*.md; do echo \"== $f\"; head -3 $f; done | tail -4", "{ echo '== docs/a.md'; head -3 'docs/a.md'; \n echo '== docs/b.md'; head -3 'docs/b.md'; \n} | tail -4"},
		{"for i in {1..2}; do echo $i; done", "{ echo '1'; \n echo '2'; \n}"},
		{"for i in 3 4; do for j in a b; do echo $i$j; done; done", "{ { echo '3a'; \n echo '3b'; \n}; \n { echo '4a'; \n echo '4b'; \n}; \n}"},
		{"D=src; F=main; cat $D/$F.go", ":; :; cat 'src/main.go'"},
		{"D=src && ls \"$D\"", ": && ls 'src'"},
		{"FILES=\"a b\"; wc -l $FILES", ":; wc -l 'a' 'b'"},
		{"export D=docs; ls $D", ":; ls 'docs'"},
		{"LC_ALL=C sort a | uniq -c", "sort a | uniq -c"},
		{"ls $PWD/src", "ls '/w/src'"},
		{"ls ~/*.go", ""},            // the home is outside
		{"cd docs; ls \"$PWD\"", ""}, // the cd may have failed
		{"cd docs && ls \"$PWD\"", "cd docs && ls '/w/docs'"},
		{"if [ -f a ]; then X=a; else X=b; fi; cat $X", ""},
		{"X=a; (X=b; cat $X); cat $X", ":; (:; cat 'b'); cat 'a'"},
		{"X=a | cat; cat $X", ""},
		{"test -f a && X=a; cat $X", ""},
		{"X='a; rm b'; cat $X", ":; cat 'a;' 'rm' 'b'"},
		{"X=src/*.go; ls \"$X\"", ":; ls 'src/*.go'"},
	} {
		v := command.Judge(tt.text, treeEnv())
		switch {
		case tt.text == "ls s?c/":
			if v.Action != capability.Allow || v.Run != "ls 'src/'" {
				t.Errorf("%q runs as %q, %s", tt.text, v.Run, v.Reason)
			}
		case v.Run != tt.run || (v.Action == capability.Allow) != (tt.run != ""):
			t.Errorf("%q is %s (%s) and runs as\n%q, want\n%q", tt.text, v.Action, v.Reason, v.Run, tt.run)
		}
		if v.Text != tt.text {
			t.Errorf("%q is reported as %q", tt.text, v.Text)
		}
		env := treeEnv()
		if env.List = nil; command.Judge(tt.text, env).Action != capability.Ask {
			t.Errorf("%q does not ask where nothing is written out", tt.text)
		}
	}
}

// TestJudge_ExpandsNoFurther tries what an attacker would hide behind an expansion.
func TestJudge_ExpandsNoFurther(t *testing.T) {
	for text, want := range map[string]capability.Action{
		"cat .e*":                                deny, // .env
		"cat src/sub/*":                          deny, // id_rsa
		"cat *.txt":                              deny, // notes.txt leads to .env
		"cat {.env,a}":                           deny,
		"F=.env; cat $F":                         deny,
		"for f in a .env; do cat $f; done":       deny,
		"X=/; rm -rf $X":                         deny,
		"for d in / a; do rm -rf $d; done":       deny,
		"cat out/etc/*":                          ask, // a link to the outside
		"cat /etc/host*":                         ask,
		"cat ../*":                               ask,
		"cat ~/*":                                ask,
		"cat -- *.md > b":                        ask,
		"C=rm; $C a":                             ask,
		"C='rm a'; $C":                           ask,
		"eval=x; eval echo a*":                   ask,
		"PATH=src; ls":                           ask,
		"PATH=src ls":                            ask,
		"IFS=x; X=axb; cat $X":                   ask,
		"GIT_DIR=src git log":                    ask,
		"GIT_EXTERNAL_DIFF=src/x git diff":       ask,
		"GIT_CONFIG_COUNT=1 git status":          ask,
		"RIPGREP_CONFIG_PATH=a rg x src/util.go": ask,
		"GREP_OPTIONS=-r grep x a":               ask,
		"LD_PRELOAD=src/x ls":                    ask,
		"export LD_PRELOAD=src/x; ls":            ask,
		"BASH_ENV=a ls":                          ask,
		"export BASH_ENV=a; ls":                  ask,
		"LESSOPEN='|x' ls":                       ask,
		"PAGER=src/x git log":                    ask,
		"LC_ALL=../x ls":                         ask,
		"TZ=a date":                              ask,
		"LC_ALL=C ls; LC_ALL=POSIX ls":           ask,
		"X=$(rm a); echo $X":                     ask,
		"echo $(rm a) *":                         ask,
		"echo ${X:=a} *":                         ask,
		"X=a; echo ${X:-b}":                      ask,
		"X=a; unset X; cat $X":                   ask,
		"read X; cat $X":                         ask,
		"X=a; printf -v X .env; cat $X":          ask,
		"shopt -s dotglob; cat *":                ask,
		"set -f; cat docs/*":                     ask,
		"alias cat=rm; cat docs/*":               ask,
		"for cat in a; do $cat b; done":          ask,
		"for f in a; do break; done; ls *":       ask,
		"for f in a; do cat <<E\n$f\nE\ndone":    ask,
		"for PATH in a; do ls; done":             ask,
		"for f in *; do rm $f; done":             ask,
		"for f; do cat $f; done":                 ask,
		"for ((i=0;i<2;i++)); do ls *; done":     ask,
		"while X=a; do cat $X; done":             ask,
		"f() { cat $X; }; X=a; f":                ask,
		"X=a; f() { X=.env; }; f; cat $X":        ask,
		"ls * &":                                 ask,
		"cat docs/!(a).md":                       ask,
		"cat docs/[[:alpha:]].md":                ask,
		"_=a; cat $_":                            ask,
		"sort docs/*.md -o b":                    ask,
		"cat <(cat docs/*)":                      ask,
		"bash -c 'cat docs/*'":                   ask,
		"X=a cat docs/*":                         ask,
		"cat docs/*.md; cat \"$UNKNOWN\"":        ask,
		"echo {1..99999}":                        ask,
		"X='-exec rm {} +'; find src $X":         ask,
		"X=--pre=./x; rg $X y src/util.go":       ask,
	} {
		v := command.Judge(text, treeEnv())
		if v.Action != want || v.Run != "" {
			t.Errorf("%q is %s (%s), runs as %q, want %s", text, v.Action, v.Reason, v.Run, want)
		}
	}
}

// TestJudge_RulesSeeBothTexts holds that what denies a part as it was written, or what it
// stands for, goes on to deny.
func TestJudge_RulesSeeBothTexts(t *testing.T) {
	var names []string
	for _, r := range command.Judge("cat src/u*.go; ls docs", treeEnv()).Resources() {
		names = append(names, r.Name)
	}
	for _, want := range []string{"cat src/u*.go", "cat src/util.go", "/w/src/util.go", "ls docs"} {
		if !slices.Contains(names, want) {
			t.Errorf("no resource %q in %q", want, names)
		}
	}
}

// TestJudge_RgLeavesOutHidden holds that rg runs over a tree with a hidden secret only with
// the glob that leaves it out, or behind a pipe with its input named.
func TestJudge_RgLeavesOutHidden(t *testing.T) {
	env := treeEnv()
	env.HoldsSecret = func(dir string, reads func(string) bool) bool {
		return dir == "/w" && (reads == nil || reads(".env"))
	}
	for text, run := range map[string]string{
		"rg x":                    "rg --glob '!.*' x",
		"rg -n x . | head":        "rg --glob '!.*' -n x . | head",
		"rg -t go x":              "rg --glob '!.*' -t go x",
		"rg -g '!src' x":          "rg --glob '!.*' -g '!src' x",
		"ls | rg x":               "ls | rg x -",
		"ls | rg -e x -e y -n":    "ls | rg -e x -e y -n -",
		"ls | (rg x; cat)":        "ls | (rg x -; cat)",
		"rg --files | rg main":    "rg --glob '!.*' --files | rg main -",
		"rg -u x":                 "",
		"rg --hidden x":           "",
		"rg -g '*' x":             "",
		"rg -g '.env' x":          "",
		"rg -g '!.*' -g '.e*' x":  "",
		"rg --iglob '!.*' x":      "",
		"rg --pre ./x y":          "",
		"ls | rg --hidden x .":    "",
		"ls | rg --no-config -uu": "",
		"X=-uu; rg $X x":          "",
		"command rg x":            "",
		"src/rg x":                "",
		"timeout 5 rg x":          "",
		"rg -g 'x' --glob '!.*'":  "",
		"rg --ignore-file=x y":    "",
		"rg --type-add 'x:.e*' y": "",
	} {
		if v := command.Judge(text, env); v.Run != run || (v.Action == allow) != (run != "") {
			t.Errorf("%q is %s (%s), runs as %q, want %q", text, v.Action, v.Reason, v.Run, run)
		}
	}
}

// TestJudge_WritesOutHome holds that a "~" before a pattern is the home directory, where that may be read.
func TestJudge_WritesOutHome(t *testing.T) {
	env := treeEnv()
	env.Home = "/w/src"
	for text, run := range map[string]string{
		"ls ~/m*.go":  "ls '/w/src/main.go' '/w/src/main_test.go'",
		"ls x~/m*.go": "ls 'x~/m*.go'",
		"A=~/m*; ls":  "",
	} {
		if v := command.Judge(text, env); v.Run != run {
			t.Errorf("%q is %s (%s), runs as %q, want %q", text, v.Action, v.Reason, v.Run, run)
		}
	}
}
