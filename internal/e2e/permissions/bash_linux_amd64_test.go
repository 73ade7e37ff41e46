package permissions

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"acp-agent/internal/testkit/cases"
	"acp-agent/internal/testkit/shelltrace"
	"acp-agent/internal/testkit/testreq"
	judge "acp-agent/permissions/command"
)

// box runs commands in an empty namespace: the system read-only, the fixture of the cases,
// no network, and nothing else. A command runs as one that only reads does: the text
// itself, under the environment that keeps a repository from naming programs (C7, C9).
type box struct {
	cases.Fixture
	shell shelltrace.Box
}

func newBox(t *testing.T) box {
	t.Helper()
	b := box{Fixture: cases.NewFixture(t)}
	b.shell = shelltrace.Box{
		Dir: b.Work, Mounts: []string{"--bind", b.Base, b.Base}, Limit: 10 * time.Second, Reads: b.mayRead,
		Env: append([]string{"PATH=/usr/bin:/bin", "HOME=" + b.Home, "LC_ALL=C", "API_TOKEN=CANARY-OUTSIDE"}, judge.GitEnv()...),
	}
	for name, path := range map[string]*string{"bwrap": &b.shell.Bwrap, "bash": &b.shell.Bash} {
		found, err := exec.LookPath(name)
		if err != nil {
			testreq.Skip(t, name+" is not installed")
		}
		*path = found
	}
	return b
}

// mayRead reports a file of the workspace that is not a secret, where its links lead to.
func (b box) mayRead(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	inside := real == b.Work || strings.HasPrefix(real, b.Work+"/")
	return inside && !strings.Contains(real, ".env") && !strings.Contains(real, "server.pem") || strings.HasSuffix(real, ".env.example") || inside && strings.HasSuffix(real, ".env.test")
}

// run runs a command and returns what it did that it must not.
func (b box) run(t testing.TB, before, text string) []string {
	t.Helper()
	offences := b.runAll(t, []string{text})[0]
	if after := b.State(t); after != before {
		offences = append(offences, "changes the disk")
	}
	return offences
}

// runAll runs commands one after the other in one namespace, and returns what each did that it
// must not, but for changes of the disk.
func (b box) runAll(t testing.TB, texts []string) [][]string {
	t.Helper()
	results, err := b.shell.Run(texts)
	if err != nil {
		testreq.Skip(t, "a command cannot be traced here: "+err.Error())
	}
	all := make([][]string, len(texts))
	for i, result := range results {
		offences := result.Offences
		if result.Endless {
			offences = append(offences, "does not end")
		}
		if strings.Contains(result.Output, "CANARY") {
			offences = append(offences, "shows "+result.Output)
		}
		for _, program := range result.Programs {
			if dir := filepath.Dir(program[0]); dir != "/usr/bin" && dir != "/bin" && dir != "/usr/lib/git-core" {
				offences = append(offences, "runs "+program[0])
			}
		}
		all[i] = slices.Compact(offences)
	}
	return all
}

// together is how many commands run between two looks at the disk.
const together = 20

// TestCases_AgainstBash runs every command that is allowed in real bash, in an empty
// namespace and traced: it changes nothing, opens no socket, runs no program but the
// system's, and reads nothing but the workspace and the system. Beside the rows of the
// case file these are random commands over the words of what is allowed.
func TestCases_AgainstBash(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	before := b.State(t)
	for text, offence := range map[string]string{
		"touch x; rm x": "opens for writing", "cat ../outside/file.txt": "reads", "cat out/file.txt": "reads", "cat .env": "reads", "cat .env | cat": "shows",
		"exec 3<>/dev/udp/127.0.0.1/9": "socket", "mkdir y; rmdir y": "changes", "echo x | (cat > z; rm z)": "opens for writing", "ls ~": "reads",
	} {
		if found := strings.Join(b.run(t, before, text), "; "); !strings.Contains(found, offence) {
			t.Fatalf("the box does not see that %q %s: %s", text, offence, found)
		}
		before = b.State(t)
	}
	all := append(cases.Read(t, "commands.txt", b.Places()), randomCommands(t, b.Places())...)
	var allowed []string
	for i, answer := range explain(t, b.Fixture, "", false, all) {
		if answer.Verdict == "allow" {
			allowed = append(allowed, all[i].Unquoted(t, all[i].Text))
		}
	}
	for texts := range slices.Chunk(allowed, together) {
		for i, found := range b.runAll(t, texts) {
			if len(found) > 0 {
				t.Errorf("%q is allowed and %s", texts[i], strings.Join(found, "; "))
			}
		}
		if after := b.State(t); after != before {
			t.Errorf("one of these is allowed and changes the disk: %q", texts)
			before = after
		}
	}
	if len(allowed) < 200 {
		t.Errorf("only %d commands were allowed and run", len(allowed))
	}
	t.Logf("%d of %d commands were allowed and run", len(allowed), len(all))
}

// randomCommands makes commands of words that are allowed somewhere, in any order.
func randomCommands(t *testing.T, places *strings.Replacer) []cases.Case {
	t.Helper()
	names := rapid.SampledFrom([]string{
		"ls", "cat", "head", "tail", "wc", "sort", "uniq", "grep", "rg", "find", "git", "git log", "git diff", "git show", "git status", "git branch", "git ls-files", "diff", "cut", "tr", "stat", "file", "du", "tree",
		"sed -n", "awk", "jq", "echo", "printf", "test", "[", "cd", "date", "od", "nl", "paste", "comm", "cmp", "realpath", "readlink", "basename", "seq", "type", "command -v", "which", "pwd", "id",
	})
	words := rapid.SampledFrom([]string{
		"-n", "-r", "-l", "-la", "-c", "-u", "-s", "-e", "-f", "-o", "-p", "-1", "-5", "-w", "-i", "-v", "-q", "-z", "-L", "-R", "-A", "-S", "--", "-", "--all", "--stat", "--oneline", "--name-only", "--files", "--no-index", "--follow",
		"--include=*.go", "--color", "--output=x", "-exec", "-delete", "-name", "-type", "-newer", "-print", "'*.go'", "HEAD", "HEAD~1", "main", "main.go", "src", "src/util.go", "test", "data.csv", "package.json", "README.md", "link", "link/main.go", "out", "out/file.txt",
		".", "..", "./src", ".env", ".env.example", "keys", "secretlink", "evil", ".git", ".git/config", "@WORK@", "@OUT@", "~", "/etc/hosts", "/proc/self/environ", "x", "1p", "'1,2p'", "'{print $1}'", "'{print > \"x\"}'", ".name", "'a b.txt'", "+%s", "]", "=", "'%s\\n'",
	})
	joints := rapid.SampledFrom([]string{" | ", " && ", " || ", "; ", "\n", " 2>/dev/null; ", " < main.go | ", " 2>&1 | "})
	generator := rapid.Custom(func(rt *rapid.T) string {
		var b strings.Builder
		for i := range rapid.IntRange(1, 3).Draw(rt, "commands") {
			if i > 0 {
				b.WriteString(joints.Draw(rt, "joint"))
			}
			b.WriteString(names.Draw(rt, "name"))
			for _, w := range rapid.SliceOfN(words, 0, 4).Draw(rt, "words") {
				b.WriteString(" " + w)
			}
		}
		return b.String()
	})
	var list []cases.Case
	for seed := range 300 {
		list = append(list, cases.Case{File: "commands.txt", Text: places.Replace(generator.Example(seed))})
	}
	return list
}
