//go:build unix

package commands

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
)

// page is docs/toolbox.md, and a home in which everything is done that it says.
type page struct {
	text, home string
	// project is the directory that everything is done in.
	project string
}

func openPage(t *testing.T) *page {
	t.Helper()
	for _, program := range []string{"bash", "python3"} {
		if err := exec.Command(program, "--version").Run(); err != nil {
			testreq.Skip(t, program+" does not run here")
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "toolbox.md"))
	if err != nil {
		t.Fatal(err)
	}
	p := &page{text: string(text), home: t.TempDir(), project: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	testfile.Executable(t, filepath.Join(p.home, "bin", "acp-agent"), fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", acptest.EnvProgram, self))
	return p
}

// fenced is the one example of the page in a language that holds a text.
func (p *page) fenced(t *testing.T, language, holds string) string {
	t.Helper()
	var all []string
	for _, block := range strings.Split(p.text, "```"+language+"\n")[1:] {
		if example, _, closed := strings.Cut(block, "```\n"); closed && strings.Contains(example, holds) {
			all = append(all, example)
		}
	}
	if len(all) != 1 {
		t.Fatalf("the page has %d examples in %s with %q", len(all), language, holds)
	}
	return all[0]
}

// indented are the lines that stand apart on the page and begin with a text, and those of
// their paragraph that follow.
func (p *page) indented(t *testing.T, begins string) []string {
	t.Helper()
	var all []string
	open := false
	for line := range strings.Lines(p.text) {
		rest, apart := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if open = apart && (open || strings.HasPrefix(rest, begins)); open {
			all = append(all, rest)
		}
	}
	if len(all) == 0 {
		t.Fatalf("the page has no line with %q", begins)
	}
	return all
}

// run has a shell run a line of the page.
func (p *page) run(t *testing.T, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = p.project
	cmd.Env = []string{
		"HOME=" + p.home, "XDG_CONFIG_HOME=" + filepath.Join(p.home, ".config"), "GORACE=atexit_sleep_ms=0", "LAMP_TOKEN=t",
		"PATH=" + filepath.Join(p.home, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s%s", line, err, out, errs.String())
	}
	return string(out)
}

// serve starts the server of the page on a free port, and returns that.
func (p *page) serve(t *testing.T) string {
	t.Helper()
	const fixed = `HTTPServer(("127.0.0.1", 8765), Handler).serve_forever()`
	script := p.fenced(t, "python", fixed)
	script = strings.Replace(script, fixed, `s = HTTPServer(("127.0.0.1", 0), Handler); print(s.server_port, flush=True); s.serve_forever()`, 1)
	cmd := exec.Command("python3", "-c", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(port)
}

// R93, R94: the scripts, the providers, the configuration and the commands of
// docs/toolbox.md work as they stand there, with the real program.
func TestDocs_Toolbox(t *testing.T) {
	t.Parallel()
	p := openPage(t)
	toolbox := filepath.Join(p.home, ".config", "acp-agent", "toolbox")
	testfile.Executable(t, filepath.Join(toolbox, "hello"), p.fenced(t, "sh", "name: hello"))
	testfile.Executable(t, filepath.Join(toolbox, "add"), p.fenced(t, "python", `"name": "add"`))
	testfile.Executable(t, filepath.Join(p.home, "providers", "clock.py"), p.fenced(t, "python", "for line in sys.stdin"))
	// The home of the test is a temporary directory, which programs do not see by themselves.
	config := strings.NewReplacer("/home/me", p.home, "8765", p.serve(t)).Replace(strings.Join(p.indented(t, `{ "external"`), "\n"))
	config = fmt.Sprintf(`{"roots": {"read": [%q]}, %s`, p.home, strings.TrimPrefix(config, "{"))
	if err := os.WriteFile(filepath.Join(p.home, ".config", "acp-agent", "config.jsonc"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, line := range append(p.indented(t, "acp-agent "), `acp-agent tool tb__add --yes '{"numbers": [1, 2]}'`, `acp-agent tool tb__lamp__lamp --yes '{}'`) {
		said[line] = p.run(t, line)
	}
	for line, want := range map[string]string{
		"acp-agent validate ~/.config/acp-agent/toolbox/hello": `(?m)^ok +tb__hello: schema`,
		"acp-agent tools": `(?s)tb__add .*tb__hello .*tb__clock__year .*tb__lamp__lamp `,
		`acp-agent tool tb__hello --yes '{"who": "you"}'`:    `^Hello, you\.\n$`,
		`acp-agent tool tb__add --yes '{"numbers": [1, 2]}'`: `^3\n$`,
		`acp-agent tool tb__clock__year --yes '{}'`:          `^\d{4}\n$`,
		`acp-agent tool tb__lamp__lamp --yes '{}'`:           `^\{"on": ?true\}\n$`,
	} {
		if got, ok := said[line]; !ok || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s says %q, want %s", line, got, want)
		}
	}
}
