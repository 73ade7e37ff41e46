package permissions

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
)

// canaries are keys that must not turn up anywhere: the model server's, one in a
// header, one after the scheme of another, the search provider's.
var canaries = []string{canary, "hdr-canary-77aa01bc92de4413", "tok-canary-5512fe0c7aab9038", "srch-canary-90de11fa3c7b2264"}

// TestCanary is docs/security.md D3: a session with everything in it that could show a
// key, at the most talkative level. None of our keys is in what goes to the editor
// or to the model, in the log, the audit, a long output's file or anything else
// that was written; the model's server alone is sent its own, and in headers only.
func TestCanary(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	all := strings.Join(canaries, " ")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			for name, values := range r.Header {
				if leak := leaked(fmt.Sprint(values)); leak != "" {
					t.Errorf("%s went to a web page in %s", leak, name)
				}
			}
			fmt.Fprint(w, "<p>Welcome, "+all+"</p>")
			return
		}
		// The search: it repeats the key that it was sent.
		fmt.Fprintf(w, `{"web":{"results":[{"title":"Your key %s","url":"https://example.com/%s","description":"%s"}]}}`,
			r.Header.Get("X-Subscription-Token"), r.Header.Get("X-Subscription-Token"), all)
	}))
	defer web.Close()

	project, home := canaryProject(t, all), t.TempDir()
	own := canaryConfig(t, home, web.URL)
	server := modeltest.New(t, canarySteps(all, web.URL)...)
	agent := acptest.Start(t, acptest.Options{
		Home: home, Permission: acptest.Answer("allow_once"),
		Env: []string{
			"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake", "OPENAI_API_KEY=" + canary, "HARMLESS_NAME=" + canaries[1],
			"HTTPS_PROXY=http://ann:" + canaries[2] + "@127.0.0.1:1", "SEARCH_KEY=" + canaries[3], "ACP_AGENT_LOG=debug",
		},
	})
	agent.Initialize(`{"_meta":{"terminal_output":true}}`)
	session := agent.NewSession(project)
	session.PromptBlocks(
		map[string]any{"type": "text", "text": "my key is " + canary},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///notes", "text": all, "mimeType": "text/plain"}},
	).Ends("end_turn")
	session.Prompt("again").Fails(-32000, "")
	session.Prompt("again").Fails(-32603, "")
	session.Prompt("/status").Ends("end_turn")

	known := map[string]bool{own: true, filepath.Join(project, "notes.txt"): true, filepath.Join(project, canary+".txt"): true}
	seen := nothingWritten(t, known, home, project) // while the session's own directory is there
	for _, want := range []string{"bash-output-", ".jsonl", "acp-agent.log"} {
		if !strings.Contains(seen, want) {
			t.Errorf("nothing was written to %s: the test looks at too little", want)
		}
	}
	agent.Close()
	nothingWritten(t, known, home, project)

	for i, request := range server.Requests() {
		if leak := leaked(string(request.Body)); leak != "" {
			t.Errorf("request %d: %s was sent to the model", i, leak)
		}
		if request.Header.Get("Authorization") != "Bearer "+canary || request.Header.Get("X-Api-Key") != canaries[1] {
			t.Errorf("request %d: the keys were not in use", i)
		}
	}
	for _, line := range agent.Lines() {
		if leak := leaked(line.Raw); line.FromAgent && leak != "" {
			t.Errorf("%s was sent to the client: %.600s", leak, line.Raw)
		}
	}
	if leak := leaked(agent.Stderr()); leak != "" {
		t.Errorf("%s is in the log: %.1000s", leak, agent.Stderr())
	}
	if text := session.Text(); !strings.Contains(text, "You sent [redacted].") {
		t.Errorf("the model's own text: %q", text)
	}
}

// leaked names a canary that a text holds, or the better part of one.
func leaked(text string) string {
	for i, key := range canaries {
		part := key
		if i > 0 { // of the first a command has the pieces
			part = key[:len(key)-8]
		}
		if strings.Contains(text, part) {
			return key[:strings.Index(key, "canary")+len("canary")]
		}
	}
	return ""
}

// canaryProject is a directory in which the keys lie about.
func canaryProject(t *testing.T, all string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"notes.txt": "first line\n" + all + "\nlast line\n", canary + ".txt": "x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func canaryConfig(t *testing.T, home, web string) string {
	t.Helper()
	path := filepath.Join(home, ".config", "acp-agent", "config.jsonc")
	if runtime.GOOS == "darwin" {
		path = filepath.Join(home, "Library", "Application Support", "acp-agent", "config.jsonc")
	}
	text := fmt.Sprintf(`{"log": {"trace": true}, "web": {"private": [%q]},
		"model": {"headers": {"X-Api-Key": %q, "X-Auth": "Token %s"}},
		"search": {"providers": [{"type": "brave", "url": %q, "api_key_env": "SEARCH_KEY"}]}}`,
		strings.TrimPrefix(web, "http://"), canaries[1], canaries[2], web+"/search")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// canarySteps are a model's answers that bring up the keys in every way there is.
func canarySteps(all, web string) []modeltest.Step {
	call := func(name string, args map[string]any) modeltest.Step {
		text, _ := json.Marshal(args) // texts and numbers always encode
		return modeltest.Step{Calls: []modeltest.Call{{Name: name, Arguments: string(text)}}}
	}
	bash := func(cmd string) modeltest.Step { return call("bash", map[string]any{"cmd": cmd}) }
	refusal := `{"error":{"message":"Incorrect API key provided: ` + all + `."}}`
	return []modeltest.Step{
		bash(`env; printenv OPENAI_API_KEY; export -p; echo PATH=$PATH; tr '\0' '\n' </proc/$PPID/environ`),
		bash(`ls; cat notes.txt; printf '%s' sk-canary-8f1d; sleep 0.1; printf '%s\n' 2c7ab34e9065`),
		bash(`t=$(cat notes.txt); i=0; while [ $i -lt 6000 ]; do echo "$t"; i=$((i+1)); done; cat ` + all),
		call("read", map[string]any{"path": "notes.txt"}),
		call("read", map[string]any{"path": "missing-" + canary + ".txt"}),
		call("grep", map[string]any{"pattern": "canary"}),
		call("glob", map[string]any{"filePattern": "**/*.txt"}),
		call("edit", map[string]any{"path": "notes.txt", "old_str": "last line", "new_str": "the last line"}),
		call("write", map[string]any{"path": "new.txt", "content": "key " + all}),
		call("web_fetch", map[string]any{"url": web + "/page?q=" + canary}),
		call("web_search", map[string]any{"query": all}),
		call("unknown-"+canary, map[string]any{}),
		{Text: "You sent " + canary + ". And " + all + "\n", Pieces: 7, Reasoning: "The key is " + canary},
		{Status: 401, Body: refusal},
		{Status: 400, Body: refusal},
	}
}

// nothingWritten looks for the keys in every file beneath some directories, except
// files that are known to hold them, and the journal and the blobs, whose copies of the user's
// files have to be exact. It returns the names of the files.
func nothingWritten(t *testing.T, known map[string]bool, roots ...string) string {
	t.Helper()
	var names strings.Builder
	for _, root := range roots {
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			fmt.Fprintln(&names, path)
			copied := filepath.Base(filepath.Dir(path)) == "journal" || strings.Contains(path, "blobs"+string(filepath.Separator))
			if known[path] || copied {
				return nil
			}
			text, err := os.ReadFile(path)
			if leak := leaked(string(text)); leak != "" {
				at := strings.Index(string(text), leak)
				t.Errorf("%s is in the file %s: %q", leak, path, text[max(0, at-400):min(len(text), at+80)])
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return names.String()
}
