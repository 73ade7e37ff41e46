package builtin

import (
	"context"
	"path/filepath"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// previewLSP names the program, which the arguments do not tell, and where it
// runs.
func previewLSP(_ context.Context, rt tools.Runtime, a lspArgs) ([]kinds.Content, error) {
	if a.Path == "" {
		return nil, noPath("lsp")
	}
	session := rt.Session()
	path := session.Abs(a.Path)
	if rt.FS().Secret(path) {
		return nil, tools.SecretRefused(path)
	}
	path = session.Resolve(path)
	dir := pathname.Innermost(session.Roots, path)
	if dir == "" {
		dir = session.Cwd
	}
	kind := strings.ToLower(filepath.Ext(path))
	if kind == "" {
		kind = filepath.Base(path)
	}
	return programCard("Starts, unless it runs already,", kinds.Fence("", kinds.Visible("the language server for "+kind+" files")), dir), nil
}

// lspResources are the file and the language server of its language, which is
// chosen by where the path leads.
func lspResources(args tools.Args, env tools.Env) []tools.Resource {
	path := env.Abs(tools.ArgsAs[lspArgs](args).Path)
	resources := []tools.Resource{{Kind: tools.PathRead, Value: path}}
	if env.Resolve != nil {
		path = env.Resolve(path)
	}
	return append(resources, startedFor(path)...)
}
