//go:build unix

package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// caseDir holds the case files of the permissions.
const caseDir = "../../testdata/cases"

// permissionCase is one row of a case file: what must become of a call.
type permissionCase struct {
	file       string
	line       int
	text       string // as the file has it, the places filled in
	want, mode string
	why        string
}

// readCases reads a case file: headings "== VERDICT [in MODE]: why", rows beneath them.
func readCases(t testing.TB, name string, places *strings.Replacer) []permissionCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(caseDir, name))
	if err != nil {
		t.Fatal(err)
	}
	var all []permissionCase
	heading := permissionCase{file: name}
	for i, line := range strings.Split(string(data), "\n") {
		switch title, isTitle := strings.CutPrefix(line, "== "); {
		case isTitle:
			verdict, why, _ := strings.Cut(title, ": ")
			heading.want, heading.mode, _ = strings.Cut(verdict, " in ")
			if heading.why = why; why == "" || !strings.Contains(" allow ask deny ", " "+heading.want+" ") {
				t.Fatalf("%s:%d: no heading: %q", name, i+1, line)
			}
		// A command may itself be a comment, but only beneath a heading.
		case line == "", heading.want == "" && line[0] == '#':
		default:
			c := heading
			c.line, c.text = i+1, places.Replace(line)
			all = append(all, c)
		}
	}
	return all
}

// unquoted is the text of a row that may be written as a JSON string.
func (c permissionCase) unquoted(t testing.TB, text string) string {
	t.Helper()
	quoted, ok := strings.CutPrefix(text, "json ")
	if !ok {
		return text
	}
	var plain string
	if err := json.Unmarshal([]byte(quoted), &plain); err != nil {
		t.Fatalf("%s:%d: %v", c.file, c.line, err)
	}
	return plain
}

// call is the tool call that a row stands for.
func (c permissionCase) call(t testing.TB) (tool string, args map[string]string) {
	t.Helper()
	switch c.file {
	case "commands.txt":
		return "bash", map[string]string{"cmd": c.unquoted(t, c.text)}
	case "urls.txt":
		return "web_fetch", map[string]string{"url": c.unquoted(t, c.text)}
	}
	text, quoted := strings.CutPrefix(c.text, "json ")
	verb, path, _ := strings.Cut(text, " ")
	if quoted {
		path = c.unquoted(t, "json "+path)
	}
	switch verb {
	case "read":
		return "read", map[string]string{"path": path}
	case "write":
		return "write", map[string]string{"path": path, "content": "x"}
	case "edit":
		return "edit", map[string]string{"path": path, "old_str": "a", "new_str": "b"}
	case "delete":
		return "delete_file", map[string]string{"path": path}
	case "list":
		return "glob", map[string]string{"filePattern": path}
	}
	t.Fatalf("%s:%d: no verb: %q", c.file, c.line, c.text)
	return "", nil
}

// caseGround is what lies around the cases: a workspace with a clean repository, a
// directory beside it, and a home, each with something that must not come out.
type caseGround struct{ base, work, out, home string }

func newCaseGround(t testing.TB) caseGround {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "git is not installed")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := caseGround{base, filepath.Join(base, "work"), filepath.Join(base, "outside"), filepath.Join(base, "home")}
	put := func(name, text string) {
		name = filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"README.md": "# Fixture\n\ntodo: nothing\n", "main.go": "package main\n\nfunc main() {}\n", "go.mod": "module x\n", "a b.txt": "x\n",
		"data.csv": "x,1\ny,2\nx,1\n", "package.json": `{"name":"x","scripts":{"test":"true"}}`, "src/main.go": "package main\n\nfunc util() {}\n",
		"src/util.go": "package main\n", "test/a_test.go": "package main\n", ".gitignore": ".env\nkeys\n", ".env.example": "KEY=\n", "script.sh": "touch RAN\n",
		"linked/main.go": "package main\n", ".env.test": "KEY=test\n",
	} {
		put("work/"+name, text)
	}
	run := func(args ...string) {
		cmd := exec.Command(git, args...)
		cmd.Dir = g.work
		cmd.Env = append(os.Environ(), "HOME="+g.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=a@x")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q", "-b", "main", ".")
	run("add", ".")
	run("commit", "-q", "-m", "one")
	put("work/src/util.go", "package main\n\nvar x = 1\n")
	run("commit", "-q", "-a", "-m", "two")
	run("tag", "README.md") // a name that means a revision and a file
	put("work/main.go", "package main\n\nfunc main() { util() }\n")
	// Touched and not changed, which git would like to note in its index.
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(g.work, "README.md"), later, later); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"work/.env": "CANARY-INSIDE=1\n", "work/keys/server.pem": "CANARY-INSIDE\n", "work/evil/.git/config": "[core]\n\tfsmonitor = ./x.sh\n",
		"work/evil/.git/HEAD": "ref: refs/heads/main\n", "outside/file.txt": "CANARY-OUTSIDE\n", "home/.ssh/id_rsa": "CANARY-OUTSIDE\n",
		"home/.bashrc": "CANARY-OUTSIDE\n", "home/notes.txt": "CANARY-OUTSIDE\n",
		"home/config.jsonc": `{"model": {"api_key": "casekey-Of/9876543210-long"}, "web": {"hosts": ["docs.example.com", "example.org", "bücher.example"], "private": ["localhost:8080", "10.1.2.3:9000"]}}`,
	} {
		put(name, text)
	}
	if err := syscall.Mkfifo(filepath.Join(g.work, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"work/out": g.out, "work/secretlink": ".env", "work/link": "linked"} {
		if err := os.Symlink(to, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func (g caseGround) places() *strings.Replacer {
	return strings.NewReplacer("@WORK@", g.work, "@OUT@", g.out, "@HOME@", g.home)
}

// explain judges the cases of one mode with the real program.
func (g caseGround) explain(t testing.TB, mode string, cases []permissionCase) []explained {
	t.Helper()
	var in bytes.Buffer
	for _, c := range cases {
		tool, args := c.call(t)
		line, err := json.Marshal(map[string]any{"tool": tool, "args": args})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"permissions", "explain", "--json", "--cwd", g.work}
	if mode != "" {
		args = append(args, "--mode", mode)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Stdin = g.base, &in
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.home, acptest.EnvProgram + "=1", envSandbox + "=landlock", "GORACE=atexit_sleep_ms=0",
		"ACP_AGENT_CONFIG=" + filepath.Join(g.home, "config.jsonc"),
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	var answers []explained
	for line := range strings.Lines(string(out)) {
		var answer explained
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		answers = append(answers, answer)
	}
	if len(answers) != len(cases) {
		t.Fatalf("%d answers to %d calls", len(answers), len(cases))
	}
	return answers
}

// TestCases judges the case files with the real program: nothing is allowed that must be
// asked or denied; of what must be denied at most one in ten is only asked; of what may
// run at most one in ten is asked (R118, R119).
func TestCases(t *testing.T) {
	least := map[string]int{"commands.txt": 300, "paths.txt": 120, "urls.txt": 100}
	ground := newCaseGround(t)
	for file, least := range least {
		t.Run(file, func(t *testing.T) {
			all := readCases(t, file, ground.places())
			if len(all) < least {
				t.Errorf("%d cases, want %d", len(all), least)
			}
			modes := map[string][]permissionCase{}
			for _, c := range all {
				modes[c.mode] = append(modes[c.mode], c)
			}
			before := ground.state(t)
			wanted, missed := map[string]int{}, map[string]int{}
			for mode, cases := range modes {
				for i, answer := range ground.explain(t, mode, cases) {
					c := cases[i]
					wanted[c.want]++
					if answer.Reason == "" || answer.Layer == "" {
						t.Errorf("%s:%d: %q: no reason or layer: %+v", c.file, c.line, c.text, answer)
					}
					if answer.Verdict == c.want {
						continue
					}
					what := fmt.Sprintf("%s:%d: %q is %s by %s (%s), want %s: %s", c.file, c.line, c.text, answer.Verdict, answer.Layer, answer.Reason, c.want, c.why)
					if missed[c.want]++; answer.Verdict == "allow" {
						t.Error("dangerous: " + what)
					} else {
						t.Log(what)
					}
				}
			}
			if after := ground.state(t); after != before {
				t.Error("explaining changed the disk")
			}
			for want, n := range missed {
				if 10*n > wanted[want] {
					t.Errorf("%d of %d that are to be %s are not", n, wanted[want], want)
				}
			}
			t.Logf("%d cases; other verdicts, none of them an allow: %v of %v", len(all), missed, wanted)
		})
	}
}

// state is every file with its size, mode and time of change.
func (g caseGround) state(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(g.base, func(name string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&b, name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
