package permissions

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
)

// fileCanary stands in files that hold secrets.
const fileCanary = "filecanary4b1d9920"

// TestCanary_SecretFiles is R30 and P8: what stands in a file that holds secrets
// reaches neither the model nor the editor by any tool, whatever the user answers
// to what they are asked, nor by way of a link, of git or of the prompt.
func TestCanary_SecretFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links, and commands for a POSIX shell")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{".env", ".env.local", "id_rsa", "server.pem", ".aws/credentials", "deep/.npmrc"}
	for _, name := range secrets {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("KEY="+fileCanary+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "plain.go"), []byte("package plain\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"notes.txt": ".env", "picture.png": ".env", "folder": ".aws"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if git, err := exec.LookPath("git"); err == nil {
		for _, args := range [][]string{{"init", "-q"}, {"add", "-f", ".env"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}} {
			cmd := exec.Command(git, args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
	}

	steps, calls := secretSteps(secrets)
	home := t.TempDir()
	config := filepath.Join(t.TempDir(), "config.jsonc")
	if err := os.WriteFile(config, []byte(`{"limits": {"max_steps": 1000}, "tools": {"search": {"enabled": false}}, "format": {".pem": ["cat"], ".local": ["cat"]},
		"checks": [{"name": "look", "cmd": "cat .env"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	server := modeltest.New(t, append(steps, modeltest.Step{Text: "Done."})...)
	agent := acptest.Start(t, acptest.Options{
		Home: home, Permission: acptest.Answer("allow_once"),
		Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake", "ACP_AGENT_CONFIG=" + config, "ACP_AGENT_LOG=debug"},
	})
	agent.Initialize("")
	session := agent.NewSession(dir)
	session.PromptBlocks(
		map[string]any{"type": "text", "text": "look at @.env"},
		map[string]any{"type": "resource_link", "uri": "file://" + filepath.Join(dir, ".env"), "name": ".env"},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file://" + filepath.Join(dir, ".env"), "text": "KEY=" + fileCanary, "mimeType": "text/plain"}},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file://" + filepath.Join(dir, "notes.txt"), "text": "KEY=" + fileCanary, "mimeType": "text/plain"}},
	).Ends("end_turn")
	agent.Close()

	requests := server.Requests()
	requests = requests[max(0, len(requests)-calls-1):] // before them the server was asked what it is
	if got := strings.Count(string(requests[len(requests)-1].Body), `"role":"tool"`); got != calls {
		t.Errorf("the last request holds %d results, want %d", got, calls)
	}
	for i, request := range requests {
		if strings.Contains(string(request.Body), fileCanary) {
			what := "the prompt"
			if i > 0 {
				what = "call " + steps[i-1].Calls[0].Name + " " + steps[i-1].Calls[0].Arguments
			}
			t.Errorf("the model was told a secret behind %s", what)
			break // it is in every request from here on
		}
	}
	for _, line := range agent.Lines() {
		if line.FromAgent && strings.Contains(line.Raw, fileCanary) {
			t.Errorf("the editor was told a secret: %.400s", line.Raw)
		}
	}
	if strings.Contains(agent.Stderr(), fileCanary) {
		t.Errorf("it is in the log: %.400s", agent.Stderr())
	}
}

// secretSteps are calls of every tool that could show a file, for each secret file
// and for each way to one.
func secretSteps(secrets []string) (steps []modeltest.Step, calls int) {
	call := func(name string, args map[string]any) {
		text, _ := json.Marshal(args) // texts always encode
		steps = append(steps, modeltest.Step{Calls: []modeltest.Call{{Name: name, Arguments: string(text)}}})
	}
	for _, name := range append([]string{"notes.txt", "picture.png", "folder/credentials", "./deep/../.env", ".ENV"}, secrets...) {
		call("read", map[string]any{"path": name})
		call("view_image", map[string]any{"path": name})
		call("grep", map[string]any{"pattern": ".", "path": name})
		call("edit", map[string]any{"path": name, "old_str": "KEY=", "new_str": "K="})
		call("write", map[string]any{"path": name, "content": "new\n"})
		call("delete_file", map[string]any{"path": name})
		call("undo_edit", map[string]any{"path": name})
		call("format_file", map[string]any{"path": name})
		call("lsp", map[string]any{"operation": "hover", "path": name, "line": 1, "character": 1})
		call("apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: " + name + "\n@@\n-KEY=x\n+K=x\n*** End Patch\n"})
		call("apply_patch", map[string]any{"patch": "rename from " + name + "\nrename to shown.txt\n"})
		call("apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Delete File: " + name + "\n*** End Patch\n"})
		for _, cmd := range []string{"cat %", "head -n1 < %", "base64 %", "grep KEY %", "cp % shown.txt", "diff plain.go %", "sort -- %", "source ./%"} {
			call("bash", map[string]any{"cmd": strings.ReplaceAll(cmd, "%", name)})
		}
	}
	for _, args := range []map[string]any{{"pattern": "canary"}, {"pattern": "KEY", "path": ".aws"}, {"pattern": "KEY", "glob": ".env*"}} {
		call("grep", args)
	}
	call("glob", map[string]any{"filePattern": "**/*"})
	call("repo_overview", map[string]any{"path": "."})
	call("check", map[string]any{})
	call("web_fetch", map[string]any{"url": "file://.env"})
	call("skill", map[string]any{"name": ".env"})
	for _, cmd := range []string{"git show HEAD:.env", "git diff --no-index plain.go .env", "git cat-file -p HEAD:.env", "cat .e*", "tar c .env", "cat <notes.txt", "cat ./deep/../.env", "cd .aws && cat credentials"} {
		call("bash", map[string]any{"cmd": cmd})
	}
	return steps, len(steps)
}
