package builtin_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// realGit runs programs for true, with one more certificate.
type realGit struct {
	tools.Processes
	certificate string
}

func (g realGit) Exec(ctx context.Context, p tools.Program, output io.Writer) (tools.Exit, error) {
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Dir, output, output
	cmd.Env = append(p.Env, "PATH="+os.Getenv("PATH"), "GIT_SSL_CAINFO="+g.certificate)
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return tools.Exit{Code: exit.ExitCode()}, nil
	}
	return tools.Exit{}, err
}

// onDisk is a runtime whose programs are real. Its files are not: the tool only
// asks whether the target is there.
type onDisk struct {
	*tooltest.Runtime
	processes tools.Processes
}

func (r onDisk) Processes() tools.Processes { return r.processes }

// TestRepoClone_Real clones with git itself, from a server of its own over https.
func TestRepoClone_Real(t *testing.T) {
	t.Parallel()
	backend := gitBackend(t)
	dir := t.TempDir()
	head := makeRepository(t, filepath.Join(dir, "served", "repo.git"))
	server := httptest.NewTLSServer(&cgi.Handler{
		Path: backend, Dir: dir,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Join(dir, "served"), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"},
	})
	t.Cleanup(server.Close)
	certificate := filepath.Join(dir, "cert.pem")
	writeFile(t, certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))

	rt := onDisk{tooltest.New(tooltest.Options{}), realGit{certificate: certificate}}
	rt.Sess.Scratch = filepath.Join(dir, "scratch")
	if err := os.Mkdir(rt.Sess.Scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	rt.Web = tooltest.NetFunc(func(ctx context.Context, r tools.Request) (*tools.Response, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
		if err != nil {
			return nil, err
		}
		response, err := server.Client().Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		return &tools.Response{URL: r.URL, Status: response.StatusCode, ContentType: response.Header.Get("Content-Type")}, nil
	})
	result, err := tool(t, "repo_clone").Run(t.Context(), rt, tools.NewArgs(encode(t, map[string]any{"url": server.URL + "/repo.git", "ref": "main"})))
	if err != nil {
		t.Fatalf("repo_clone: %v", err)
	}
	got := data(t, result)
	if got["commit"] != head {
		t.Errorf("commit = %v, want %s", got["commit"], head)
	}
	content, err := os.ReadFile(filepath.Join(rt.Sess.Scratch, "repo", "f.txt"))
	if err != nil || string(content) != "second\n" {
		t.Errorf("f.txt = %q, %v", content, err)
	}
	if _, err := os.Stat(filepath.Join(rt.Sess.Scratch, "repo", ".git", "shallow")); err != nil {
		t.Errorf("the clone has the whole history: %v", err)
	}
}

func gitBackend(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if err == nil {
		_, err = os.Stat(backend)
	}
	if err != nil {
		testreq.Skip(t, "git with its http-backend is not installed")
	}
	return backend
}

// makeRepository makes a bare repository with two commits and returns the last.
func makeRepository(t *testing.T, bare string) string {
	t.Helper()
	work := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", work, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet", "--initial-branch=main")
	for _, content := range []string{"first\n", "second\n"} {
		writeFile(t, filepath.Join(work, "f.txt"), content)
		git("add", "f.txt")
		git("commit", "--quiet", "-m", "c")
	}
	git("clone", "--quiet", "--bare", work, bare)
	return git("rev-parse", "HEAD")
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
