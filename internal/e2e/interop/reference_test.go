//go:build unix

package interop

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
)

// everythingCalls are how the tools of server-everything are called. One that wants a model
// for its own use (sampling) is not among them: it is not to have it here.
var everythingCalls = map[string]foreignCall{
	"echo":                   {args: `{"message": "hello"}`, want: "Echo: hello"},
	"get-annotated-message":  {args: `{"messageType": "success", "includeImage": true}`, want: "Operation completed successfully", images: 1},
	"get-env":                {args: `{}`, want: "GIVEN"},
	"get-resource-links":     {args: `{"count": 2}`, want: "demo://resource/dynamic/text/2"},
	"get-resource-reference": {args: `{"resourceType": "Text", "resourceId": 7}`, want: "Resource 7: This is a plaintext resource"},
	"get-roots-list":         {args: `{}`, want: "file://$DIR"},
	"get-structured-content": {args: `{"location": "New York"}`, want: `"humidity"`},
	"get-sum":                {args: `{"a": 20, "b": 22}`, want: "The sum of 20 and 22 is 42."},
	"get-tiny-image":         {args: `{}`, want: "The image above is the MCP logo.", images: 1},
	"gzip-file-as-resource":  {args: `{"name": "a.gz", "data": "data:text/plain,hello"}`, want: "a.gz"},
	// The one that is ours, for what the server has to be read.
	"read_resource": {args: `{"uri": "demo://resource/dynamic/text/7"}`, want: "Resource 7: This is a plaintext resource"},
	// It works for clients that follow a task, and says so to the others.
	"simulate-research-query":        {args: `{"topic": "tea"}`, want: "requires task augmentation", fails: true},
	"toggle-simulated-logging":       {args: `{}`, want: "simulated"},
	"toggle-subscriber-updates":      {args: `{}`, want: "simulated resource updated notifications"},
	"trigger-elicitation-request":    {args: `{}`, want: everythingInputs, asks: true},
	"trigger-long-running-operation": {args: `{"duration": 0.6, "steps": 3}`, want: "Long running operation completed. Duration: 0.6 seconds, Steps: 3."},
	"trigger-url-elicitation": {
		args: `{"url": "https://pay.example/42", "message": "Pay there.", "elicitationId": "visit 42"}`,
		want: "User completed the URL elicitation flow.\nElicitation ID: visit 42\nURL: https://pay.example/42", asks: true,
	},
}

// filesystemCalls are how the tools of server-filesystem are called.
var filesystemCalls = map[string]foreignCall{
	"create_directory":          {args: `{"path": "$DIR/data/new"}`, want: "Successfully created directory"},
	"directory_tree":            {args: `{"path": "$DIR/data"}`, want: `"a.txt"`},
	"edit_file":                 {args: `{"path": "$DIR/data/edit.txt", "edits": [{"oldText": "before", "newText": "after"}]}`, want: "+after"},
	"get_file_info":             {args: `{"path": "$DIR/data/a.txt"}`, want: "isFile: true"},
	"list_allowed_directories":  {args: `{}`, want: "$DIR"},
	"list_directory":            {args: `{"path": "$DIR/data"}`, want: "[FILE] a.txt"},
	"list_directory_with_sizes": {args: `{"path": "$DIR/data", "sortBy": "size"}`, want: "a.txt"},
	"move_file":                 {args: `{"source": "$DIR/data/move.txt", "destination": "$DIR/data/moved.txt"}`, want: "Successfully moved"},
	"read_file":                 {args: `{"path": "$DIR/data/a.txt", "head": 1}`, want: "first line"},
	"read_media_file":           {args: `{"path": "$DIR/data/dot.png"}`, want: "(1 image)", images: 1},
	"read_multiple_files":       {args: `{"paths": ["$DIR/data/a.txt", "$DIR/data/absent.txt"]}`, want: "last line"},
	"read_text_file":            {args: `{"path": "$DIR/data/a.txt", "tail": 2}`, want: "last line"},
	"search_files":              {args: `{"path": "$DIR/data", "pattern": "*.png"}`, want: "dot.png"},
	"write_file":                {args: `{"path": "$DIR/data/written.txt", "content": "words"}`, want: "Successfully wrote"},
}

const longOperation = "trigger-long-running-operation"

// TestInterop_ServerEverything calls every tool of the reference server of MCP that has
// one of each kind, over each transport that it has, with the client of the official SDK:
// images and progress are in the cards, the user fills in a form and opens an address, a
// long operation is cancelled, the server hears of it, and is there for the next turns, in
// which its prompts are commands and its resources are read (R88-R91, R158).
// The short form has stdio and HTTP.
func TestInterop_ServerEverything(t *testing.T) {
	binary := needInterop(t)
	for _, tt := range testreq.Pick(2, []struct {
		name  string
		serve func(t *testing.T, dir string, heard *heard) interopServer
	}{
		{"stdio", everythingOverStdio("auto")},
		{"stdio without a sandbox", everythingOverStdio("none")},
		{"http", everythingOverHTTP("streamableHttp", "/mcp", true)},
		{"sse of the configuration", everythingOverHTTP("sse", "/sse", false)},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			heard := &heard{}
			r := newServersRun(t, binary, func(t *testing.T, dir string) interopServer { return tt.serve(t, dir, heard) })
			script := r.script(append(r.offerScenes(),
				map[string]any{"when": "^cancel it$", "call": []any{map[string]any{"name": r.id(longOperation), "args": map[string]any{"duration": 60, "steps": 600}}}},
				map[string]any{"when": "^once more$", "call": []any{map[string]any{"name": r.id("echo"), "args": map[string]any{"message": "still there"}}}},
				map[string]any{"expect": map[string]any{"last_result": "Echo: still there"}, "say": "It is."},
			)...)
			r.drive(script, append([]interopStep{
				{Do: "prompt", Text: "everything", Answer: "allow", Form: everythingForm},
				{Do: "prompt", Text: "cancel it", Answer: "allow", CancelOn: &interopSight{Update: "tool_call_update", Text: " of 600"}},
				{Do: "prompt", Text: "once more", Answer: "allow"},
				{Do: "prompt", Text: "/mcp"},
			}, r.offerSteps()...)...)
			r.everyCall()
			r.everythingShown()
			r.everythingAsked()
			r.everyOffer(4)
			if got := r.report.Steps[1].Result.StopReason; got != "cancelled" {
				r.Errorf("the turn with the long operation ended with %q", got)
			}
			if text := heard.text(t); !strings.Contains(text, `"notifications/cancelled"`) {
				r.Errorf("the server did not hear of the cancel: %s", text)
			}
			if got := r.report.Steps[2].Result.StopReason; got != "end_turn" || r.said(2) != "It is." {
				r.Errorf("the turn after it ended with %q and said %q", got, r.said(2))
			}
			if diff := cmp.Diff(r.tools, r.shown(3)); diff != "" {
				r.Errorf("tools called, tools that /mcp shows (-called +shown):\n%s", diff)
			}
		})
	}
}

// everythingShown checks what the cards hold besides a text.
func (r *interopServersRun) everythingShown() {
	r.Helper()
	for _, c := range r.callsIn(0) {
		switch c.name {
		case r.id(longOperation):
			for _, line := range []string{"1 of 3", "2 of 3"} {
				if !strings.Contains(c.shown, line) {
					r.Errorf("the card of the long operation has never shown %q: %q", line, c.shown)
				}
			}
		case r.id("get-structured-content"):
			data, _ := c.data.(map[string]any)
			if _, ok := data["temperature"].(float64); !ok {
				r.Errorf("the structured result is %v", c.data)
			}
		}
	}
}

// TestInterop_ServerFilesystem calls every tool of the reference server for files, which
// is confined like a command, and looks at what they have done. A directory of its command
// line counts where the configuration keeps the session's from it (R92), and /undo takes back what the
// server did (R128).
func TestInterop_ServerFilesystem(t *testing.T) {
	binary := needInterop(t)
	t.Run("with roots and without", func(t *testing.T) {
		t.Parallel()
		filesystemRoots(t, binary)
	})
	t.Run("taken back", func(t *testing.T) {
		t.Parallel()
		r := newServersRun(t, binary, filesystemServer("none"))
		r.drive(r.script(), interopStep{Do: "prompt", Text: "everything", Answer: "allow"}, interopStep{Do: "prompt", Text: "/undo"})
		if said := r.said(1); !strings.Contains(said, "written.txt") {
			t.Errorf("/undo said %q", said)
		}
		for name, want := range map[string]string{"edit.txt": "before\n", "move.txt": ""} {
			if got := r.disk(filepath.Join("data", name)); got != want {
				r.Errorf("%s holds %q, want %q", name, got, want)
			}
		}
		for _, name := range []string{"moved.txt", "written.txt", "new"} {
			if _, err := os.Lstat(r.path(filepath.Join("data", name))); !errors.Is(err, fs.ErrNotExist) {
				r.Errorf("%s is still there: %v", name, err)
			}
		}
	})
	for _, level := range testreq.Pick(1, []string{"auto", "none"}) {
		t.Run("sandbox "+level, func(t *testing.T) {
			t.Parallel()
			r := newServersRun(t, binary, filesystemServer(level))
			r.drive(r.script(), interopStep{Do: "prompt", Text: "everything", Answer: "allow"})
			r.everyCall()
			for name, want := range map[string]string{"edit.txt": "after\n", "moved.txt": "", "written.txt": "words"} {
				if got := r.disk(filepath.Join("data", name)); got != want {
					r.Errorf("%s holds %q, want %q", name, got, want)
				}
			}
			if _, err := os.Stat(r.path("data/new")); err != nil {
				r.Error(err)
			}
		})
	}
}

// filesystemServer prepares the reference server for files, with a directory of the project.
func filesystemServer(level string) func(t *testing.T, dir string) interopServer {
	return func(t *testing.T, dir string) interopServer {
		data := filepath.Join(dir, "data")
		if err := os.Mkdir(data, 0o755); err != nil {
			t.Fatal(err)
		}
		dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==")
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"a.txt": "first line\nlast line\n", "edit.txt": "before\n", "move.txt": "", "dot.png": string(dot)} {
			if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		program := serverPath(t, "server-filesystem")
		return interopServer{
			name: "files", calls: filesystemCalls, level: level,
			configured: map[string]any{"command": []string{"node", program, data}},
			offered:    map[string]any{"name": "files", "command": "node", "args": []string{program, data}, "env": []any{}},
		}
	}
}

// heard is what a server was sent: in a file, or as it went by.
type heard struct {
	file string
	mu   sync.Mutex
	sent bytes.Buffer
}

func (h *heard) text(t *testing.T) string {
	t.Helper()
	if h.file != "" {
		text, err := os.ReadFile(h.file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent.String()
}

// everythingOverStdio starts the server as a program of the agent's, below one that
// keeps what it is sent.
func everythingOverStdio(level string) func(*testing.T, string, *heard) interopServer {
	return func(t *testing.T, dir string, heard *heard) interopServer {
		heard.file = filepath.Join(dir, "sent.jsonl")
		args := []string{"-c", `tee -a "$0" | node "$1" stdio`, heard.file, serverPath(t, "server-everything")}
		return interopServer{
			name: "everything", calls: everythingCalls, level: level,
			configured: map[string]any{"command": slices.Concat([]string{"bash"}, args)},
			offered: map[string]any{
				"name": "everything", "command": "bash", "args": args, "env": []any{map[string]any{"name": "GIVEN", "value": "given"}},
			},
		}
	}
}

// everythingOverHTTP starts the server behind a proxy that keeps what it is sent.
func everythingOverHTTP(mode, path string, offer bool) func(*testing.T, string, *heard) interopServer {
	return func(t *testing.T, _ string, heard *heard) interopServer {
		origin := serveEverything(t, mode)
		proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(origin) }}
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the agent has given up the request
			}
			heard.mu.Lock()
			heard.sent.Write(append(body, '\n'))
			heard.mu.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(body))
			proxy.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		server := interopServer{
			name: "everything", calls: everythingCalls, level: "auto",
			configured: map[string]any{"url": front.URL + path, "sse": mode == "sse"},
		}
		if offer {
			server.offered = map[string]any{"type": "http", "name": "everything", "url": front.URL + path, "headers": []any{}}
		}
		return server
	}
}

// serveEverything starts the server on a free port, and returns where it is.
func serveEverything(t *testing.T, mode string) *url.URL {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close() // the server cannot be told to take any port
	cmd := exec.CommandContext(t.Context(), "node", serverPath(t, "server-everything"), mode)
	cmd.Env = append(os.Environ(), fmt.Sprint("PORT=", port), "GIVEN=given")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan bool, 1)
	var read sync.WaitGroup
	read.Go(func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if strings.HasSuffix(lines.Text(), fmt.Sprint("port ", port)) {
				listening <- true
			}
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		read.Wait()
		_ = cmd.Wait() // it was killed
	})
	select {
	case <-listening:
	case <-time.After(30 * time.Second):
		t.Fatal("the server does not listen")
	}
	return &url.URL{Scheme: "http", Host: fmt.Sprint("127.0.0.1:", port)}
}
