package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"acp-agent/internal/testreq"
	judge "acp-agent/permissions/command"
)

// box runs commands in an empty namespace: the system read-only, the ground of the cases,
// no network, and nothing else.
type box struct {
	caseGround
	bwrap, bash string
}

func newBox(t *testing.T) box {
	t.Helper()
	b := box{caseGround: newCaseGround(t)}
	for name, path := range map[string]*string{"bwrap": &b.bwrap, "bash": &b.bash} {
		found, err := exec.LookPath(name)
		if err != nil {
			testreq.Skip(t, name+" is not installed")
		}
		*path = found
	}
	if out, err := exec.Command(b.bwrap, b.args("true")...).CombinedOutput(); err != nil {
		testreq.Skip(t, "bwrap does not run here: "+string(out))
	}
	return b
}

// args are those of bwrap for a command. It runs as one that only reads does: the text
// itself, under the environment that keeps a repository from naming programs (C7, C9).
func (b box) args(text string) []string {
	args := []string{"--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"}
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"} {
		args = append(args, "--ro-bind-try", dir, dir)
	}
	args = append(args, "--bind", b.base, b.base, "--chdir", b.work)
	for _, kv := range append([]string{"PATH=/usr/bin:/bin", "HOME=" + b.home, "LC_ALL=C", "API_TOKEN=CANARY-OUTSIDE"}, judge.GitEnv()...) {
		name, value, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", name, value)
	}
	return append(args, "--", b.bash, "--noprofile", "--norc", "-c", "--", text)
}

// mayRead reports a file of the system or of the workspace that is no secret, where its
// links lead to.
func (b box) mayRead(path string) bool {
	if systemPath(path) {
		return !strings.Contains(path, "/root/") && !strings.HasSuffix(path, "/environ")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	inside := real == b.work || strings.HasPrefix(real, b.work+"/")
	return inside && !strings.Contains(real, ".env") && !strings.Contains(real, "server.pem") || strings.HasSuffix(real, ".env.example") || inside && strings.HasSuffix(real, ".env.test")
}

// run runs a command and returns what it did that it must not.
func (b box) run(t testing.TB, before, text string) []string {
	t.Helper()
	done, err := traceShell(append([]string{b.bwrap}, b.args(text)...), b.base, b.mayRead, 10*time.Second)
	if err != nil {
		testreq.Skip(t, "a command cannot be traced here: "+err.Error())
	}
	offences := done.offences
	if strings.Contains(done.output, "CANARY") {
		offences = append(offences, "shows "+done.output)
	}
	if after := b.state(t); after != before {
		offences = append(offences, "changes the disk")
	}
	return slices.Compact(offences)
}

// TestCases_AgainstBash runs every command that is allowed in real bash, in an empty
// namespace and traced: it changes nothing, opens no socket, runs no program but the
// system's, and reads nothing but the workspace and the system. Beside the rows of the
// case file these are random commands over the words of what is allowed.
func TestCases_AgainstBash(t *testing.T) {
	b := newBox(t)
	before := b.state(t)
	for text, offence := range map[string]string{
		"touch x; rm x": "opens for writing", "cat ../outside/file.txt": "reads", "cat out/file.txt": "reads", "cat .env": "reads", "cat .env | cat": "shows",
		"exec 3<>/dev/udp/127.0.0.1/9": "socket", "mkdir y; rmdir y": "changes", "echo x | (cat > z; rm z)": "opens for writing", "ls ~": "reads",
	} {
		if found := strings.Join(b.run(t, before, text), "; "); !strings.Contains(found, offence) {
			t.Fatalf("the box does not see that %q %s: %s", text, offence, found)
		}
		before = b.state(t)
	}
	cases := append(readCases(t, "commands.txt", b.places()), randomCommands(t, b.places())...)
	ran := 0
	for i, answer := range b.explain(t, "", cases) {
		if answer.Verdict != "allow" {
			continue
		}
		ran++
		text := cases[i].unquoted(t, cases[i].text)
		if found := b.run(t, before, text); len(found) > 0 {
			t.Errorf("%q is allowed and %s", text, strings.Join(found, "; "))
			before = b.state(t)
		}
	}
	if ran < 200 {
		t.Errorf("only %d commands were allowed and run", ran)
	}
	t.Logf("%d of %d commands were allowed and run", ran, len(cases))
}

// randomCommands makes commands of words that are allowed somewhere, in any order.
func randomCommands(t *testing.T, places *strings.Replacer) []permissionCase {
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
	var list []permissionCase
	for seed := range 300 {
		list = append(list, permissionCase{file: "commands.txt", text: places.Replace(generator.Example(seed))})
	}
	return list
}
