package lsp

import (
	"encoding/json"
	"path/filepath"

	"acp-agent/internal/fileuri"
)

// notified handles a notification, and ignores one that cannot be decoded.
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
