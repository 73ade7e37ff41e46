package session_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/loop"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/transcript"
)

// library is an MCP server whose resources book:0 to book:19 have 30 KiB each, and whose
// prompt lend takes the argument book. It notes what it was asked for.
type library struct {
	mu   sync.Mutex
	read []string
	lent []string
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID     *int
		Method string
		Params struct {
			URI       string
			Arguments map[string]string
		}
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&asked) != nil || asked.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var result any
	switch asked.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "l", "version": "1"}, "capabilities": map[string]any{"prompts": map[string]any{}, "resources": map[string]any{}}}
	case "prompts/list":
		result = map[string]any{"prompts": []any{map[string]any{"name": "lend", "arguments": []any{map[string]any{"name": "book", "required": true}}}}}
	case "prompts/get":
		l.lent = append(l.lent, asked.Params.Arguments["book"])
		result = map[string]any{"messages": []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": "Lend it."}}}}
	case "resources/list":
		var books []any
		for n := range 20 {
			books = append(books, map[string]any{"uri": fmt.Sprintf("book:%d", n), "name": "book"})
		}
		result = map[string]any{"resources": books}
	case "resources/templates/list":
		result = map[string]any{"resourceTemplates": []any{}}
	case "resources/read":
		l.read = append(l.read, asked.Params.URI)
		result = map[string]any{"contents": []any{map[string]any{"uri": asked.Params.URI, "text": strings.Repeat("x", 30<<10)}}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": *asked.ID, "result": result})
}

// R159: of the resources that a prompt mentions as many are read as there is room for, each
// once; of the others the user and the model are told.
func TestMentions_Bounded(t *testing.T) {
	lib := &library{}
	server := httptest.NewServer(lib)
	t.Cleanup(server.Close)
	s, rec := open(t, setup{
		script:  `{"expect":{"told":"[book:7 of the MCP server lib could not be read: the prompt mentions too much already]"},"say":"first"}`,
		servers: []mcp.Server{{Name: "lib", URL: server.URL}},
	})
	parts := []transcript.Part{&transcript.TextPart{Text: "these"}, &transcript.ResourcePart{URI: "book:9", Text: "what the editor knows of it"}, &transcript.ResourcePart{URI: "book:0"}}
	for n := range 8 {
		parts = append(parts, &transcript.LinkPart{URI: fmt.Sprintf("book:%d", n), Name: "book"})
	}
	wait(t, s.Prompt(parts), loop.EndTurn)
	rec.await(t, "notice", noticed("book:7 of the MCP server lib could not be read"))
	if diff := cmp.Diff([]string{"book:0", "book:1", "book:2", "book:3", "book:4", "book:5", "book:6"}, lib.read); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// R115: what a rule denies is not read because it is mentioned, and no prompt of a server is
// used that a rule denies: by the server, by another name of the tool, by its source.
func TestMentions_Denied(t *testing.T) {
	for denied, prompts := range map[string]bool{"mcp:lib:*": false, "mcp:*": false, "lib_read_resource": true, "net.fetch": true, "mcp:lib:lend": false} {
		t.Run(denied, func(t *testing.T) {
			lib := &library{}
			server := httptest.NewServer(lib)
			t.Cleanup(server.Close)
			script := `{"expect":{"told":"[book:1 of the MCP server lib could not be read: a rule denies it]"},"say":"first"}`
			if denied == "mcp:lib:lend" {
				script = `{"expect":{"told":"xxx"},"say":"first"}`
			}
			s, _ := open(t, setup{script: script + "\n" + `{"say":"second"}`, servers: []mcp.Server{{Name: "lib", URL: server.URL}}})
			s.WithRules(permissions.User, permissions.Rule{Permission: denied, Pattern: "*", Action: capability.Deny})
			wait(t, s.Prompt([]transcript.Part{&transcript.TextPart{Text: "this"}, &transcript.LinkPart{URI: "book:1", Name: "book"}}), loop.EndTurn)
			if read := len(lib.read) > 0; read != (denied == "mcp:lib:lend") {
				t.Errorf("read %q", lib.read)
			}
			wait(t, s.Prompt([]transcript.Part{&transcript.TextPart{Text: "/mcp:lib:lend it"}}), loop.EndTurn)
			if lent := len(lib.lent) > 0; lent != prompts {
				t.Errorf("lent %q", lib.lent)
			}
		})
	}
}

// R158: a mention is a word of what is typed after a prompt of a server: a file by its
// path, anything else by its address.
func TestExpand_MentionsAreWords(t *testing.T) {
	lib := &library{}
	server := httptest.NewServer(lib)
	t.Cleanup(server.Close)
	s, _ := open(t, setup{script: `{"expect":{"told":"Lend it."},"say":"lent","repeat":-1}`, servers: []mcp.Server{{Name: "lib", URL: server.URL}}})
	for _, parts := range [][]transcript.Part{
		{&transcript.TextPart{Text: "/mcp:lib:lend"}, &transcript.LinkPart{URI: "file:///a%20b/c.go", Name: "c.go"}},
		{&transcript.TextPart{Text: "/mcp:lib:lend book="}, &transcript.ResourcePart{URI: "memo:1", Text: "one"}},
		{&transcript.TextPart{Text: "/mcp:lib:lend the"}, &transcript.LinkPart{URI: "memo:2", Name: "two"}, &transcript.TextPart{Text: "one"}},
	} {
		wait(t, s.Prompt(parts), loop.EndTurn)
	}
	if diff := cmp.Diff([]string{"/a b/c.go", "memo:1", "the memo:2 one"}, lib.lent); diff != "" {
		t.Errorf("lent (-want +got):\n%s", diff)
	}
}
