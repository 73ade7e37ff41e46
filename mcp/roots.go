package mcp

//lint:file-ignore SA1019 The version of the protocol that we offer has roots and messages for the log; a later one gives them up.

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/internal/fileuri"
	"acp-agent/kinds"
)

// hasRoots reports whether the server is told which directories the session has.
func (l *link) hasRoots() bool { return len(l.manager.o.Roots) > 0 && !l.server.NoRoots }

// capabilities are what a server may ask of us: which directories the session has.
func (l *link) capabilities() *sdk.ClientCapabilities {
	can := &sdk.ClientCapabilities{}
	if l.hasRoots() {
		can.RootsV2 = &sdk.RootCapabilities{} // which never change
	}
	return can
}

// answer takes requests and words of a server before the library does: that would sort the
// roots, of which some servers take the first for the project.
func (l *link) answer(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		switch method {
		case "roots/list":
			if !l.hasRoots() {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client does not support roots"}
			}
			return l.manager.roots(), nil
		case "notifications/message":
			if params, ok := request.GetParams().(*sdk.LoggingMessageParams); ok {
				l.log(ctx, params)
			}
		}
		return next(ctx, method, request)
	}
}

// roots are the directories of the session as file URIs, in their order.
func (m *Manager) roots() *sdk.ListRootsResult {
	roots := []*sdk.Root{} // JSON has no null for it
	for _, dir := range m.o.Roots {
		roots = append(roots, &sdk.Root{URI: fileuri.Of(dir)})
	}
	return &sdk.ListRootsResult{Roots: roots}
}

// log keeps what a server has to say for the log in ours, where debugging is on.
func (l *link) log(ctx context.Context, said *sdk.LoggingMessageParams) {
	logger := l.manager.o.Logger
	if !logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	text, isText := said.Data.(string)
	if !isText {
		raw, _ := json.Marshal(said.Data) // it was JSON
		text = string(raw)
	}
	logger.DebugContext(ctx, "mcp server says", "server", l.id, "level", kinds.Line(string(said.Level), maxProblem), "text", kinds.Line(clean(text, maxProblem), maxProblem))
}
