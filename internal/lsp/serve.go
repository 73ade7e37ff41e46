package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/sourcegraph/jsonrpc2"

	"acp-agent/internal/fileuri"
)

// Handle takes in what the server sends unasked. It runs in the reader, so it
// neither waits nor writes: replies go to a goroutine of their own.
func (c *connection) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	params := json.RawMessage("{}")
	if r.Params != nil {
		params = *r.Params
	}
	if r.Notif {
		c.notified(r.Method, params)
		return
	}
	response := &jsonrpc2.Response{ID: r.ID}
	result, known := c.request(r.Method, params)
	if !known {
		response.Error = &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "not supported: " + r.Method}
	} else if err := response.SetResult(result); err != nil {
		response.Error = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
	}
	select {
	case c.replies <- response:
	default:
		// It asks and asks, and does not read the answers.
		_ = c.rpc.Close()
	}
}

// notified takes in a notification; one that cannot be decoded says nothing.
func (c *connection) notified(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p publishParams
		if json.Unmarshal(params, &p) != nil {
			return
		}
		if path, ok := fileuri.Path(p.URI); ok {
			c.news.publish(path, p.Version, p.Diagnostics)
		}
	case "$/progress":
		var p progressParams
		if json.Unmarshal(params, &p) == nil {
			c.news.progress(string(p.Token), p.Value.Kind)
		}
	}
}

// request answers a request of the server. It never lets the server change a
// file.
func (c *connection) request(method string, params json.RawMessage) (result any, known bool) {
	type object = map[string]any
	switch method {
	case "workspace/configuration":
		var p configurationParams
		if json.Unmarshal(params, &p) != nil {
			return []any{}, true
		}
		return make([]any, len(p.Items)), true // null each: its defaults
	case "workspace/workspaceFolders":
		return []folder{{fileuri.Of(c.root), filepath.Base(c.root)}}, true
	case "workspace/applyEdit":
		return object{"applied": false, "failureReason": "files are not changed by a language server here"}, true
	case "window/showDocument":
		return object{"success": false}, true
	case "window/workDoneProgress/create", "window/showMessageRequest",
		"client/registerCapability", "client/unregisterCapability",
		"workspace/diagnostic/refresh", "workspace/semanticTokens/refresh", "workspace/inlayHint/refresh",
		"workspace/codeLens/refresh", "workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		return nil, true
	}
	return nil, false
}

// reply writes the answers to the server's requests until it is gone.
func (c *connection) reply() {
	for {
		select {
		case response := <-c.replies:
			_ = c.rpc.SendResponse(context.Background(), response) // a server that is gone waits for nothing
		case <-c.rpc.DisconnectNotify():
			return
		}
	}
}
