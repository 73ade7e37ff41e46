package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/helpertest"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/workspace"
	runner "acp-agent/workspace/run"
)

// disk is a real workspace in a fresh directory.
func disk(t *testing.T, dir string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.New(workspace.Options{
		SessionID:   "ses_test",
		Directories: workspace.Directories{Cwd: dir, State: t.TempDir()},
		Protection:  runner.Protection{Secret: permissions.Secret},
		Commands:    runner.Options{Launcher: &launch.Launcher{Self: helpertest.Path()}, Environ: os.Environ()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(launch.ShutdownGrace) })
	return w
}

// grounded is a call with nothing but the workspace's files and commands.
type grounded struct{ *workspace.Call }

func (grounded) Net() tools.Net { return nil }

func (grounded) Services() tools.Services { return tools.Services{} }

// direct is a call whose commands run without our helper, which is slow to
// start under the race detector.
type direct struct{ grounded }

func (d direct) Processes() tools.Processes { return d }

func (direct) Exec(context.Context, tools.Program, io.Writer) (tools.Exit, error) {
	return tools.Exit{}, errors.ErrUnsupported
}

func (direct) Run(ctx context.Context, cmd tools.ShellCommand, output io.Writer) (tools.Exit, error) {
	c := exec.CommandContext(ctx, "sh", "-c", cmd.Text)
	c.Dir, c.Stdout, c.Stderr = cmd.Dir, output, output
	err := c.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return tools.Exit{}, err
	}
	return tools.Exit{Code: c.ProcessState.ExitCode()}, nil
}

// outcome is all that a call gives, with the whole of a list that was cut.
type outcome struct{ Text, Data, Whole, Err string }

func outcomeOf(ctx context.Context, rt tools.Runtime, tool tools.Tool, args string) outcome {
	result, err := tool.Run(ctx, rt, tools.NewArgs(args))
	if err != nil {
		return outcome{Err: err.Error()}
	}
	o := outcome{Text: result.ModelText(), Data: fmt.Sprint(result.Data)}
	if result.OutputPath != "" {
		whole, err := os.ReadFile(result.OutputPath)
		o.Whole = fmt.Sprint(string(whole), err)
		o.Text = strings.ReplaceAll(o.Text, result.OutputPath, "OUTPUT")
	}
	return o
}

func ripgrepPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("rg")
	if err != nil {
		testreq.Skip(t, "ripgrep is not installed")
	}
	return path
}

// drawTree fills a directory with files whose few names and words collide, and
// with all that makes a search pass over a file.
func drawTree(t *rapid.T, dir string) {
	element := rapid.SampledFrom([]string{
		"a", "b", "a.go", "b.txt", ".h", ".env", "key.pem", "é", "x y", "it's", "a:1: b", "-v", "[a]", ".git", "d\nd", "\xff",
	})
	word := rapid.SampledFrom([]string{
		"foo", "Foo", "bar", "task", "ta\u017f\u212a", "é", "É", "-v", "x{2}", " ", "\n", "\n", "\n", "\r\n", "\r", "\xff", "1", "_", "\ufeff",
	})
	rule := rapid.SampledFrom([]string{"a", "a/", "/b", "*.go", "!a.go", "b/*", "!b/a", "**/a", "x y", "*", "!*/", ".h", "*.txt", "# c", "é"})
	put := func(name, text string) {
		full := filepath.Join(dir, name)
		if os.MkdirAll(filepath.Dir(full), 0o700) == nil {
			_ = os.WriteFile(full, []byte(text), 0o600) // a directory of that name: no file
		}
	}
	for range rapid.IntRange(0, 14).Draw(t, "files") {
		name := strings.Join(rapid.SliceOfN(element, 1, 4).Draw(t, "path"), "/")
		text := strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "text"), "")
		switch rapid.IntRange(0, 9).Draw(t, "sort") {
		case 0:
			text = "\x00" + text
		case 1:
			text += strings.Repeat("far\n", 3_000) + "\x00foo\nfoo" // binary only to a search that reads far
		case 2:
			text = "\xff\xfef\x00o\x00o\x00"
		case 3:
			_ = os.Symlink("a", filepath.Join(dir, filepath.Base(name))) // a file of that name: no link
		}
		put(name, text)
	}
	for range rapid.IntRange(0, 3).Draw(t, "ignore files") {
		at := strings.Join(rapid.SliceOfN(element, 0, 2).Draw(t, "dir"), "/")
		put(filepath.Join(at, rapid.SampledFrom([]string{".gitignore", ".gitignore", ".ignore"}).Draw(t, "ignore file")),
			strings.Join(rapid.SliceOfN(rule, 1, 4).Draw(t, "rules"), "\n"))
	}
	if rapid.Bool().Draw(t, "repository") {
		put(".git/info/exclude", strings.Join(rapid.SliceOfN(rule, 0, 2).Draw(t, "excludes"), "\n"))
	}
}

func drawCall(t *rapid.T) (id string, args map[string]any) {
	glob := rapid.SampledFrom([]string{
		"*", "**", "*.go", "**/*.go", "*.{go,txt}", "{a,b}/*", "a/**/b*", "**/.h", ".*", "**/.*/*", "[ab]*", "?", "é", "b/a", "./a*", "{b/a,a}.go", "*a*b*",
	})
	if rapid.Bool().Draw(t, "glob") {
		return "glob", map[string]any{"filePattern": glob.Draw(t, "pattern")}
	}
	args = map[string]any{"pattern": rapid.SampledFrom([]string{
		"foo", "task", "foo|bar", `\bfoo\b`, `^foo`, `foo$`, `^$`, `^\s*$`, `o+\s*b`, `(foo|bar)+\r?`, `f.o`, `\x{FFFD}`, `é`, `É`, `[^a-z]`,
		`(?-i)Foo`, `\Boo`, `.`, `\pL\d`, `[[:upper:]]a`, `k$`, `\W\w`, `x\{2\}`, `x{2}`, `-v`, `\Afoo\z`, `(?m)^b`, `[^\x00-\x7F]`, `a{2,}?`, `(a*)*`, `^*`,
		`\n?foo`, `[^\n]é`, `\Qx{2}\E`, `(|foo)1`, `[^\s\S]`, `$^`, `(?i:K)\b`, `\r`, `_|\d\D`, "far", "",
	}).Draw(t, "pattern")}
	args["caseSensitive"] = rapid.Bool().Draw(t, "case sensitive")
	args["literal"] = rapid.IntRange(0, 4).Draw(t, "literal") == 0
	switch rapid.IntRange(0, 3).Draw(t, "where") {
	case 0:
		args["glob"] = glob.Draw(t, "files")
	case 1:
		args["path"] = rapid.SampledFrom([]string{"a", ".h", "b", "a.go", "."}).Draw(t, "path")
	}
	return "grep", args
}

// With the real ripgrep, every result is what it is without.
func TestRipgrep_SameResults(t *testing.T) {
	t.Parallel()
	rg := ripgrepPath(t)
	base, n, hits := t.TempDir(), 0, 0
	plain := map[string]tools.Tool{"grep": tool(t, "grep"), "glob": tool(t, "glob")}
	asking := map[string]tools.Tool{"grep": withRipgrep(t, rg, "grep"), "glob": withRipgrep(t, rg, "glob")}
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o700); err != nil {
			rt.Fatal(err)
		}
		drawTree(rt, dir)
		w := disk(t, dir)
		call := grounded{w.Call("call_1", "grep", nil)}
		defer call.Finish()
		for range 3 {
			id, args := drawCall(rt)
			raw := encode(t, args)
			want := outcomeOf(t.Context(), call, plain[id], raw)
			got := outcomeOf(t.Context(), direct{call}, asking[id], raw)
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("%s %s in %s (-without +with ripgrep):\n%s", id, raw, dir, diff)
			}
			if strings.Contains(want.Text, dir) {
				hits++
			}
		}
	})
	if hits < n/4 {
		t.Errorf("only %d searches of %d trees found anything: the test is worth nothing", hits, n)
	}
}

// Each line stands in a file of its own, so that none hides behind another.
func TestRipgrep_SameMatches(t *testing.T) {
	t.Parallel()
	rg, dir := ripgrepPath(t), t.TempDir()
	texts := []string{
		"foo", "foo\n", "foo\r\n", "foo\r", "foo\r\r\n", "\n", "\r\n", "", "\xff", "\xff\n", "a\xffb", "é", "É", "e\u0301", "K", "\u212a", "ſ", "S",
		"\ufefffoo", "\xff\xfef\x00o\x00o\x00", "far\x00", strings.Repeat("x", 9_000) + "\x00foo", "x y", "_", "1", "٣", "\u00a0", "\t", "x{2}", "xx",
		"-v", "--files", "\x1b[31mfoo", "日本", "😀", "\u2028", "foo bar\nbar foo\r\n", "$^", "^foo",
	}
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := grounded{disk(t, dir).Call("call_1", "grep", nil)}
	t.Cleanup(call.Finish)
	plain, asking := tool(t, "grep"), withRipgrep(t, rg, "grep")
	for _, pattern := range []string{
		"foo", "FOO", "foo$", "^foo", `^foo\b`, `foo\r`, `foo\z`, `\Afoo`, "^$", "$^", `^\r?$`, `o\B`, `\bfoo\b`, ".", "^.$", "^..$", "^...$", `\x{FFFD}`,
		`[^a-z]`, `[^\x00-\x7F]`, "é", "É", "[é]", "k", "K", "s", `(?-i)k`, `\w`, `\W`, `^\W$`, `\s`, `\S`, `\d`, `\D`, `\pL`, `\PL`, `\p{Han}{2}`, `[[:^alpha:]]`,
		`x{2}`, `x\{2\}`, `\Qx{2}\E`, `(?s).`, `(?U)fo+`, `a.b`, `-v`, `--files`, `\x{FEFF}foo`, `\x{1F600}`, `(|foo)`, `[^\s\S]`, `(foo|bar) (foo|bar)$`,
		`\x1b\[`, `\pN`, `\n?foo`, `[\n]|bar`, `\x{D800}`, `x{9000}|y`, `(\pL{2}){3}|1`, `x+\x00`, `\f|\v|\a|_`, `\$\^`,
	} {
		for _, exact := range []bool{false, true} {
			args := encode(t, map[string]any{"pattern": pattern, "caseSensitive": exact})
			want := outcomeOf(t.Context(), call, plain, args)
			got := outcomeOf(t.Context(), direct{call}, asking, args)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-without +with ripgrep):\n%s", args, diff)
			}
		}
	}
}

// Only the ignore files that rule for our engine rule for ripgrep.
func TestRipgrep_SameIgnores(t *testing.T) {
	t.Parallel()
	rg, top := ripgrepPath(t), t.TempDir()
	dir := filepath.Join(top, "work")
	for name, text := range map[string]string{
		".gitignore": "*\n", ".git/HEAD": "", "work/.gitignore": "*.log\nout/\n", "work/a.txt": "hit", "work/b.log": "hit", "work/out/c": "hit",
		"work/sub/.gitignore": "!b.log\n", "work/sub/b.log": "hit", "work/sub/.ignore": "d\n", "work/sub/d": "hit",
		"work/nested/.git/info/exclude": "f\n", "work/nested/f": "hit", "work/nested/.git/g": "hit", "work/.hidden/h": "hit", "work/.env": "hit",
	} {
		full := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := grounded{disk(t, dir).Call("call_1", "grep", nil)}
	t.Cleanup(call.Finish)
	for _, tt := range []struct {
		id, args string
		files    []string
	}{
		{"grep", `{"pattern":"hit"}`, []string{"a.txt", "nested/f", "sub/b.log", "sub/d"}},
		{"grep", `{"pattern":"hit","path":"sub"}`, []string{"sub/b.log", "sub/d"}},
		{"grep", `{"pattern":"hit","path":".hidden"}`, []string{".hidden/h"}},
		{"grep", `{"pattern":"hit","glob":"**/.*/*"}`, []string{".hidden/h"}},
		{"glob", `{"filePattern":"**/*.{log,txt}"}`, []string{"a.txt", "sub/b.log"}},
		{"glob", `{"filePattern":"sub/*"}`, []string{"sub/b.log", "sub/d"}},
		{"glob", `{"filePattern":"nested/**"}`, []string{"nested/f"}},
		{"glob", `{"filePattern":"` + filepath.ToSlash(dir) + `/*"}`, []string{"a.txt"}},
	} {
		var want []string
		for _, name := range tt.files {
			line := filepath.Join(dir, name)
			if tt.id == "grep" {
				line += ":1: hit"
			}
			want = append(want, line)
		}
		for _, tool := range []tools.Tool{tool(t, tt.id), withRipgrep(t, rg, tt.id)} {
			o := outcomeOf(t.Context(), direct{call}, tool, tt.args)
			if diff := cmp.Diff(strings.Join(want, "\n"), o.Text+o.Err); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", tt.id, tt.args, diff)
			}
		}
	}
}

// Many hits in many files: the same are shown, and all are kept.
func TestRipgrep_SameLimits(t *testing.T) {
	t.Parallel()
	rg, dir := ripgrepPath(t), t.TempDir()
	for i := range 250 {
		text := strings.Repeat("a hit "+strings.Repeat("z", i)+"\n", i%13)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := grounded{disk(t, dir).Call("call_1", "grep", nil)}
	t.Cleanup(call.Finish)
	for id, args := range map[string]string{"grep": `{"pattern":"HIT"}`, "glob": `{"filePattern":"*","limit":20,"offset":200}`} {
		want := outcomeOf(t.Context(), call, tool(t, id), args)
		if diff := cmp.Diff(want, outcomeOf(t.Context(), call, withRipgrep(t, rg, id), args)); diff != "" || want.Err != "" {
			t.Errorf("%s: error %q (-without +with ripgrep):\n%s", id, want.Err, diff)
		}
	}
}

// A configuration of ripgrep's own changes nothing.
func TestRipgrep_NoConfig(t *testing.T) {
	t.Parallel()
	rg, dir := ripgrepPath(t), t.TempDir()
	for name, text := range map[string]string{"a.txt": "hit\n", "rc": "--invert-match\n--glob=!*.txt\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wrapper := script(t, "RIPGREP_CONFIG_PATH="+filepath.Join(dir, "rc")+" exec "+rg+` "$@"`)
	call := grounded{disk(t, dir).Call("call_1", "grep", nil)}
	t.Cleanup(call.Finish)
	got := outcomeOf(t.Context(), direct{call}, withRipgrep(t, wrapper, "grep"), `{"pattern":"hit"}`)
	if want := filepath.Join(dir, "a.txt") + ":1: hit"; got.Text != want {
		t.Errorf("outcome = %+v, want %q", got, want)
	}
}

// script makes a program of shell text.
func script(t *testing.T, text string) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		testreq.Skip(t, "programs of shell text")
	}
	path := filepath.Join(t.TempDir(), "it's rg")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// A program that is not ripgrep, run as it will be.
func TestRipgrep_FakeProgram(t *testing.T) {
	t.Parallel()
	const asked = `printf './a.txt\0001\n'; `
	tests := []struct{ name, text, want string }{
		{"hit", asked + "exit 0", "DIR/a.txt:1: hit"},
		{"chatter is no answer", "echo warning >&2; " + asked + "exit 0", "DIR/a.txt:1: hit"},
		{"no results", "exit 1", strings.Join(noResults(), "\n")},
		{"error", asked + "echo 'regex parse error' >&2; exit 2", "ripgrep exited with code 2\nregex parse error"},
		{"other error", "exit 3", "ripgrep exited with code 3"},
		{"killed", "kill -KILL $$", "ripgrep exited with code 137"},
		{"garbage", "head -c 100000 /dev/zero", "PROGRAM did not answer as ripgrep does"},
		{"much garbage", "yes | head -c 3000000", "PROGRAM did not answer as ripgrep does"},
		{"reads its input", "cat; exit 1", strings.Join(noResults(), "\n")},
		{"arguments", `for a in "$@"; do case $a in --regexp=*) echo "$a" >&2;; esac; done; exit 2`, "ripgrep exited with code 2\n--regexp=(?-u)\\x2D(?:V|v)\\x27(?:H|h)(?:I|i)(?:T|t)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("-v'hit\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			call := grounded{disk(t, dir).Call("call_1", "grep", nil)}
			t.Cleanup(call.Finish)
			program := script(t, tt.text)
			o := outcomeOf(t.Context(), call, withRipgrep(t, program, "grep"), `{"pattern":"-v'hit"}`)
			want := strings.NewReplacer("DIR", dir, ": hit", ": -v'hit", "PROGRAM", program).Replace(tt.want)
			if got := o.Text + o.Err; got != want {
				t.Errorf("answer %q, want %q", got, want)
			}
		})
	}
}

// onOutput is a call that tells of the first output of a command.
type onOutput struct {
	grounded
	tell func()
}

func (o onOutput) Processes() tools.Processes { return o }

func (o onOutput) Exec(ctx context.Context, p tools.Program, output io.Writer) (tools.Exit, error) {
	return o.Call.Processes().Exec(ctx, p, output)
}

func (o onOutput) Run(ctx context.Context, cmd tools.ShellCommand, output io.Writer) (tools.Exit, error) {
	return o.Call.Processes().Run(ctx, cmd, io.MultiWriter(output, o))
}

func (o onOutput) Write(p []byte) (int, error) {
	o.tell()
	return len(p), nil
}

// A ripgrep that hangs ends with the call.
func TestRipgrep_FakeProgramHangs(t *testing.T) {
	t.Parallel()
	w := disk(t, t.TempDir())
	call := grounded{w.Call("call_1", "grep", nil)}
	t.Cleanup(call.Finish)
	ctx, cancel := context.WithCancel(t.Context())
	program := script(t, "printf './a'; sleep 1000")
	o := outcomeOf(ctx, onOutput{call, cancel}, withRipgrep(t, program, "grep"), `{"pattern":"x"}`)
	if o.Err != context.Canceled.Error() {
		t.Errorf("outcome = %+v, want the cancellation", o)
	}
	quiet, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := w.Runner().WaitForAbandoned(quiet); err != nil {
		t.Errorf("the program is still there: %v", err)
	}
}
