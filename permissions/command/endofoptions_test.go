package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/command"
)

// Words that are only known when it runs are files where "--" stands before them, which is written in
// where the options of a command end; what that does not make sure of is asked about (S7).
func TestJudge_Separates(t *testing.T) {
	env := treeEnv()
	env.Reading = func() bool { return true }
	for text, run := range map[string]string{
		`sed -n '1,5p' "$f"`:                               `sed -n -- '1,5p' "$f"`,
		`for f in $(ls); do sed -n 1,5p "$f"; done`:        `for f in $(ls); do sed -n -- 1,5p "$f"; done`,
		`sed -n 1p $(ls src); sort "$f" | head`:            `sed -n -- 1p $(ls src); sort -- "$f" | head`,
		`ls | xargs sed -n 1p`:                             `ls | xargs sed -n -- 1p`,
		`ls | xargs -I{} sed -n 1p {}`:                     `ls | xargs -I{} sed -n -- 1p {}`,
		`jq -r .name "$f"`:                                 `jq -r .name -- "$f"`,
		`ls | xargs jq .name`:                              "ask",
		`rg -n x "$f"`:                                     `rg -n -- x "$f"`,
		`sort -k 2 -- "$f"`:                                "",
		`sort -n a "$f"`:                                   `sort -n -- a "$f"`,
		`n=$(wc -l < a); sed -n "${n}p" "$f"`:              `n=$(wc -l < a); sed -n -- "${n}p" "$f"`,
		`echo "$(sed -n 1p "$f")"`:                         `echo "$(sed -n -- 1p "$f")"`,
		`timeout 5 sed -n 1p "$f"`:                         `timeout 5 sed -n -- 1p "$f"`,
		`sed -n 1p "$f" -i`:                                "ask",
		`sed -n 1p "$f" "-$g"`:                             "ask",
		`sed -i 1p "$f"`:                                   "ask",
		`sed -n -e 1p "$f"`:                                "ask",
		`sed "$s" "$f"`:                                    "ask",
		`sed $o 1p "$f"`:                                   "ask",
		`sed -n "1p;$s" "$f"`:                              "ask",
		`sed '1e id' "$f"`:                                 "ask",
		`sort $f`:                                          "ask",
		`rg $o x`:                                          "ask",
		`rg --pre ./x y "$f"`:                              "ask",
		`rg -g "$g" x "$f"`:                                "ask",
		`jq "$q" "$f"`:                                     "ask",
		`jq . $f -f x`:                                     "ask",
		`ls | xargs -I{} sed {} a`:                         "ask",
		`ls | xargs -I 1 sed -n 1p a`:                      "ask",
		`ls | xargs sed`:                                   "ask",
		`sed -n 1p "$f" > a`:                               "ask",
		`sed -n 1p "$f" /srv/a`:                            "ask",
		`sed -n 1p "$f"; git log`:                          "ask",
		`sed -n 1p .env "$f"`:                              "deny",
		`n=$(wc -l < no); sed "s/a/\\$n/;s/e/b/" "$f"`:     "ask",
		`n=$(wc -l < no); sed -n $n 'e id' "$f"`:           "ask",
		`export POSIXLY_CORRECT=1; sed -n 1p "$f" -i`:      "ask",
		`sed() { ls; }; sed -n 1p "$f"`:                    "ask",
		`alias sed='sed -i'; sed -n 1p "$f"`:               "ask",
		`find . -exec sh -c 'sed -n 1p "$1"' _ {} \;`:      "ask",
		`X=$(ls); [ -f "$X" ] && sed -n 1p "$X" | wc -l &`: "ask",
	} {
		v := command.Judge(text, env)
		got := v.Action.String()
		if v.Action == allow {
			got = v.Run
		}
		if got != run {
			t.Errorf("%q: %s %q (%s), want %q", text, v.Action, v.Run, v.Reason, run)
		}
		if v.Text != text {
			t.Errorf("%q has the text %q", text, v.Text)
		}
	}
	env.Reading = nil
	if v := command.Judge(`sed -n 1p "$f"`, env); v.Action != ask {
		t.Errorf("without a sandbox for reading: %s", v.Action)
	}
}

// A file may have any name: the programs take it for a file.
func TestJudge_SeparatesNames(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		testreq.Skip(t, "no bash, which runs the texts")
	}
	dir := t.TempDir()
	env := command.Env{Cwd: dir, Roots: []string{dir}, List: func(string) ([]string, error) { return nil, os.ErrPermission }, Reading: func() bool { return true }}
	for _, name := range []string{"-i", "-s", "-n", "-f x", "-fx", "-e1d", "--expression=1e touch PWNED", "--in-place", "--file=x", "-e 1e touch PWNED", "-o", "-oPWNED", "--output=PWNED", "--compress-program=touch", "a b", " a", "-i\nb", "*", "--", "-x;touch PWNED", "$(touch PWNED)"} {
		for _, text := range []string{`sed -n 1p "$1"`, `f=$(printf %s "$1"); sed -n 1p "$f"`, `sort "$1"`, `printf '%s\0' "$1" | xargs -0 sed -n 1p`, `printf '%s\0' "$1" | xargs -0 -I{} sed -n 1p {}`} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("held\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			v := command.Judge(text, env)
			if v.Action != allow || v.Run == "" {
				t.Fatalf("%q: %s (%s)", text, v.Action, v.Reason)
			}
			cmd := exec.Command(bash, "-c", v.Run, "bash", name)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "held" {
				t.Errorf("%q with %q: %v: %s", v.Run, name, err, out)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 || left[0].Name() != name {
				t.Errorf("%q with %q left %v: %v", v.Run, name, left, err)
			}
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
