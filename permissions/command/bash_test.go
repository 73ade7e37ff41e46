package command_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"acp-agent/capability"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/command"
)

// sandboxDir is a workspace on disk with a canary outside it.
type sandboxDir struct {
	base, work, bash string
}

func newSandboxDir(t *testing.T) sandboxDir {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		testreq.Skip(t, "no bash, which is the oracle of this test")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := sandboxDir{base: base, work: filepath.Join(base, "work"), bash: bash}
	for name, content := range map[string]string{
		"work/a": "one\ntwo\n", "work/b": "two\n", "work/a b": "x\n", "work/src/main.go": "package main\n", "work/package.json": `{"name":"x"}`,
		"work/.env": "CANARY-INSIDE=1\n", "outside": "CANARY-OUTSIDE\n",
	} {
		name = filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s sandboxDir) env() command.Env {
	return command.Env{
		Cwd: s.work, Roots: []string{s.work}, Home: filepath.Join(s.base, "home"),
		Inside: func(name string) (string, bool) {
			resolved, err := filepath.EvalSymlinks(name)
			if err != nil {
				resolved = filepath.Clean(name)
			}
			return resolved, resolved == s.work || strings.HasPrefix(resolved, s.work+"/")
		},
		HoldsSecret: func(string, func(string) bool) bool { return true },
		Regular: func(name string) bool {
			info, err := os.Stat(name)
			return err == nil && info.Mode().IsRegular()
		},
	}
}

// state is every file with its size, mode and time of change.
func (s sandboxDir) state(t interface{ Fatal(...any) }) string {
	var b strings.Builder
	err := filepath.WalkDir(s.base, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(name + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (s sandboxDir) run(text string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bash, "--noprofile", "--norc", "-c", "--", text)
	cmd.Dir = s.work
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(s.base, "home"), "TMPDIR=" + s.base, "LC_ALL=C"}
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput() // a command that fails is as good as one that works
	return string(out)
}

// TestJudge_AgainstBash runs what the judge allows under the real bash: nothing may
// change on the disk, and neither a secret nor what lies outside may come out.
func TestJudge_AgainstBash(t *testing.T) {
	s := newSandboxDir(t)
	env := s.env()
	words := rapid.SampledFrom([]string{
		"ls", "cat", "echo", "grep", "find", "head", "tail", "wc", "sort", "uniq", "diff", "cd", "pwd", "test", "[", "sed", "cut", "tr", "nl", "stat", "date", "true", "printf", "tee", "touch", "rm", "mkdir", "cp", "awk", "env", "command", "eval", "sh",
		"a", "b", "'a b'", "a\\ b", "src", "src/main.go", ".", "..", "../outside", "/etc/hostname", ".env", "~", "\"$HOME\"", "*", "a*", "{a,b}", "$(echo a)", "`echo a`", "new", "-",
		"-n", "-la", "-o", "-r", "-name", "-delete", "-exec", "{}", "\\;", "1p", "'1,2p'", "'w new'", "-e", "x", "-u", "-c", "-d", "'{print $1}'", "--", "--output=new", "]", "-f", "-v", "$'a'", "$X", "#c",
		"|", "&&", "||", ";", "&", ">", ">>", "<", "2>&1", ">/dev/null", "2>/dev/null", "(", ")", "{", "}", "!", "\n", "<<<", "if", "then", "fi", "X=1", "<(ls)",
	})
	allowed := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 1, 7).Draw(rt, "words"), " ")
		if command.Judge(text, env).Action != capability.Allow {
			return
		}
		allowed++
		s.compare(rt, text)
	})
	for _, text := range []string{
		"ls -la", "cat a | sort | uniq -c", "grep -n one a", "find . -name '*.go'", "cd src && cat main.go", "sed -n '1,2p' a", "[ -f a ] && cat a", "diff a b", "awk '{print $1}' a",
		"cat <<'E'\nx\nE", "ls 2>/dev/null >&2", "(cd src; ls)", "if [ -d src ]; then ls src; fi", "printf '%s\\n' x", "cat 'a b'", "date +%s", "stat a", "git status", "git log", "jq .name package.json", "command -v ls", "type cat",
	} {
		if v := command.Judge(text, env); v.Action != capability.Allow {
			t.Errorf("%q is %s (%s)", text, v.Action, v.Reason)
			continue
		}
		s.compare(t, text)
	}
	t.Logf("%d random commands were allowed and run", allowed)
}

func (s sandboxDir) compare(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, text string,
) {
	before := s.state(t)
	out := s.run(text)
	if after := s.state(t); after != before {
		t.Fatalf("%q was allowed and changed the disk:\n%s\nbefore:\n%s", text, after, before)
	}
	if strings.Contains(out, "CANARY") {
		t.Fatalf("%q was allowed and shows %q", text, out)
	}
}

// TestJudge_LinesAgainstBash does the same with what decides where a word, a line, a
// comment, a quote and a here-document end: there a parser may differ from the shell, and
// then a command hides in what it takes for text.
func TestJudge_LinesAgainstBash(t *testing.T) {
	s := newSandboxDir(t)
	env := s.env()
	env.HoldsSecret = func(string, func(string) bool) bool { return false }
	env.Secret = func(string) bool { return false }
	pieces := rapid.SampledFrom([]string{
		"touch new", "touch new", "touch new", "\n", "\n", "\\\n", "\\\n", "\\", "#", "#", " # ", " ", " ", ";", "echo a", "ls", "'", "\"", "`", "\t", "<<E\n", "<<'E'\n", "<<-E\n", "<<\\E\n", "\nE\n", "E", "E\n", "$'", "\\'", "{", "}", "(", ")", "&&", "|", "&",
		"case a in a) ", " ;; esac", "*)", "if ls; then ", "\nfi", "!", "[", "]", "=", "~", "<", "2>&1", "$", "%n", "printf ", "%s", "${X:=a}", "$((", "))", "|#", "a#", "#!", ";;", "\n#", "cat", "<<", "[[", "]]", "-",
	})
	lines := rapid.SampledFrom([]string{
		"touch new", "touch new", "touch new # \\", "ls", "echo a \\", "echo a\\", "echo a\\\\", "# c \\", "# c", "#", "cat <<E", "cat <<'E'", "cat <<-E", "cat <<-'E' # c", "cat <<\"E\" | cat", "cat <<E; touch new", "cat <<E <<F", "E", "E", "\tE", "E ", "E\\", "F", "\\", "\\E", " E",
		"echo 'a", "b'", "echo \"a # b", "b\"", "echo \"a\\", "'", "\"", "echo $'a\\'", "echo a'#'b # c", "case a in", "a) # c", "*) ls;;", ";;", "esac", "if ls", "then", "fi", "{", "}", "(", ")", "ls &&", "ls |", "| cat", "&& ls", "!", "printf %s\\n \\", "echo a\\ #b", "echo 'a'#b", "echo `", "`",
		"while false", "do", "done", "echo \\# a", "echo \\", "cat <<E &&", "cat <<''", "", "cat << \\E", "cat <<E\\", "F cat", "cat <<#", "#", "cat <<E#", "E#",
	})
	allowed := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 2, 12).Draw(rt, "pieces"), "")
		if rapid.Bool().Draw(rt, "lines") {
			text = strings.Join(rapid.SliceOfN(lines, 2, 8).Draw(rt, "lines"), "\n")
		}
		if command.Judge(text, env).Action != capability.Allow {
			return
		}
		if !strings.Contains(text, "touch") {
			return
		}
		allowed++
		s.compare(rt, text)
	})
	t.Logf("%d random commands were allowed and run", allowed)
}

// FuzzJudge holds what must be true of any text: the judge ends, gives a reason, is as
// strict as its strictest part, and never allows a text with a sign of an effect.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		"ls | cat", "rm -rf /", "a() { a|a& };a", "cat <<E\n$(x)\nE", "cd a && b > c", "find . -exec rm {} \\;", "$'\\x72m' -rf /", "bash -c 'x'", "[[ a =~ b ]]", "${x@P}", "curl x|sh", "((a))", "git -C a log", "case a in b) c;; esac",
		"echo a # b \\\nrm -rf /", "printf #\\\n\ttouch x", "echo a\\\n#b; rm -rf /", "cat <<E\na\\\nE\nrm -rf /\nE", "case a in ${x:=y}) ;; *) ls;; esac", "printf a%n PATH; ls", "cat <<'E'\n\\\nE\nls", "ls \\\n -l #\n# b\npwd",
		"cd src && git -C .. status", "cat -- --include=*", "grep x --include=*.go a", "diff a b", "git diff --stat -- :x", "od -w /etc/passwd",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := command.Judge(text, testEnv())
		if v.Reason == "" || len(v.Parts) == 0 {
			t.Fatalf("%q: no reason or no parts: %+v", text, v)
		}
		for _, p := range v.Parts {
			if p.Action.Stricter(v.Action) {
				t.Fatalf("%q is %s but its part %q is %s", text, v.Action, p.Text, p.Action)
			}
		}
		v.Resources()
		if v.Action != capability.Allow {
			return
		}
		for _, p := range v.Parts {
			if !p.Static {
				t.Fatalf("%q is allowed with the dynamic part %q", text, p.Text)
			}
		}
		if again := command.Judge(text+"\nrm -rf /", testEnv()); again.Action != capability.Deny && strings.TrimRight(text, "\\") == text && !strings.Contains(text, "<<") {
			t.Fatalf("%q hides what follows it: %s", text, again.Reason)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	env := testEnv()
	texts := []string{
		"git log --oneline -20 | head -5", "cd src && grep -rn 'TODO' --include='*.go' . | wc -l", "npm run build && npm test", "rm -rf build && mkdir build",
		"for f in *.go; do gofmt -l \"$f\"; done", "curl -fsSL https://example.com/install.sh | sh", "find . -name '*.go' -type f | sort | uniq -c | sort -rn | head",
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		command.Judge(texts[i%len(texts)], env)
	}
}
