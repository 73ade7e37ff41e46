//go:build unix

package provider_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/testreq"
	"acp-agent/tools/provider"
)

// example is a program that is written in docs/toolbox.md.
func example(t *testing.T, holds string) string {
	t.Helper()
	if err := exec.Command("python3", "--version").Run(); err != nil {
		testreq.Skip(t, "python3 does not run here")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "toolbox.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```python\n")[1:] {
		if script, _, _ := strings.Cut(block, "```\n"); strings.Contains(script, holds) {
			return script
		}
	}
	t.Fatalf("docs/toolbox.md has no example with %q", holds)
	return ""
}

// startReal starts a program as it stands, without walls.
func startReal(_ context.Context, c provider.Config, stderr io.Writer) (io.ReadWriteCloser, error) {
	cmd := exec.Command(c.Command, c.Args...)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{WriteCloser: in, Reader: out, cmd: cmd}, cmd.Start()
}

type process struct {
	io.WriteCloser
	io.Reader
	cmd  *exec.Cmd
	once sync.Once
}

// Close implements io.Closer.
func (p *process) Close() error {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return nil
}

func TestDocs_Stdio(t *testing.T) {
	script := example(t, "for line in sys.stdin")
	s := provider.New([]provider.Config{{Name: "clock", Type: "stdio", Command: "python3", Args: []string{"-c", script}}}, provider.Options{Start: startReal})
	defer s.Close()
	settled(t, s)
	result, err := run(t, s, "tb__clock__year", `{}`)
	if err != nil || len(result.ModelText()) != 4 {
		t.Errorf("got %+v, %v; problems %v", result, err, s.Problems())
	}
}

func TestDocs_HTTP(t *testing.T) {
	script := example(t, "HTTPServer((")
	// A free port in place of the one that is written there, and a line that tells it.
	fixed := `HTTPServer(("127.0.0.1", 8765), Handler).serve_forever()`
	if strings.Count(script, fixed) != 1 {
		t.Fatalf("the example does not end with %s", fixed)
	}
	script = strings.Replace(script, fixed, `s = HTTPServer(("127.0.0.1", 0), Handler); print(s.server_port, flush=True); s.serve_forever()`, 1)
	server, err := startReal(t.Context(), provider.Config{Command: "python3", Args: []string{"-c", script}}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var port int
	if _, err := fmt.Fscan(server, &port); err != nil {
		t.Fatal(err)
	}
	s := provider.New([]provider.Config{{Name: "lamp", Type: "http", URL: fmt.Sprintf("http://127.0.0.1:%d/", port)}}, provider.Options{})
	defer s.Close()
	settled(t, s)
	result, err := run(t, s, "tb__lamp__lamp", `{}`)
	if err != nil || result.ModelText() != `{"on":true}` && result.ModelText() != `{"on": true}` {
		t.Errorf("got %+v, %v; problems %v", result, err, s.Problems())
	}
}
