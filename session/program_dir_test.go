package session

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/mcp"
)

func TestFindsCode(t *testing.T) {
	for line, want := range map[string]bool{
		"npx -y @scope/a-server /srv":          true,
		"/usr/local/bin/npx a-server":          true,
		`C:\node\npx.cmd a-server`:             true,
		"uvx a-server":                         true,
		"uv tool run a-server":                 true,
		"python3.12 -m a_server":               true,
		"/venv/bin/python -u -m a_server":      true,
		"npm exec a-server":                    true,
		"cmd /c npx -y a-server":               true,
		"env A=b npx a-server":                 true,
		"bash tools/server.sh":                 false,
		"python3 /srv/server.py":               false,
		"node /srv/index.js /data":             false,
		"npm run mcp":                          false,
		"/opt/a-server --exec x":               false,
		"docker run -i --rm registry/a-server": false,
	} {
		words := strings.Fields(line)
		if got := findsCode(words[0], words[1:]); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	if !findsCode("bash", []string{"-c", "exec npx a-server"}) {
		t.Error("a runner within a shell is not seen")
	}
}

// T4: a file that a variable of a server names is one that trust is bound to.
func TestFilesOf_Variables(t *testing.T) {
	files := filesOf("/w", []mcp.Server{{Command: "node", Args: []string{"index.js"}, Env: []string{"NODE_OPTIONS=--require ./tools/hook.js"}}})
	for _, want := range []string{"index.js", "tools/hook.js"} {
		if !slices.Contains(files, filepath.FromSlash(want)) {
			t.Errorf("%s is not among %q", want, files)
		}
	}
}
