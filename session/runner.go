package session

import (
	"path"
	"slices"
	"strings"

	"acp-agent/mcp"
)

// runners are programs that run a package by name and look for it, and for settings that name its
// source, in their working directory first. A list restricts this to those subcommands and flags.
var runners = map[string][]string{
	"npx": nil, "pnpx": nil, "bunx": nil, "uvx": nil, "pipx": nil,
	"npm": {"exec", "x"}, "pnpm": {"dlx", "exec"}, "yarn": {"dlx", "exec"}, "bun": {"x"}, "uv": {"tool"},
	"python": {"-m", "-c"}, "pypy": {"-m", "-c"},
}

// findsCode reports whether a command line would run code found in its working directory. Started
// in a project, it would let the project choose what runs.
func findsCode(command string, args []string) bool {
	var words []string
	for _, arg := range append([]string{command}, args...) { // a shell has them in one
		words = append(words, strings.Fields(arg)...)
	}
	for i, word := range words {
		name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
		if strings.HasPrefix(name, "py") {
			name = strings.TrimRight(name, "0123456789.") // python3.12
		}
		after, known := runners[name]
		if known && (after == nil || slices.ContainsFunc(words[i+1:], func(w string) bool { return slices.Contains(after, w) })) {
			return true
		}
	}
	return false
}

// programDir is where a program of the editor or the user starts: in the session's directory,
// unless it would run code of a project that the user does not trust. Then it is "", outside
// of all projects.
func programDir(o opened, p *project, command string, args []string) string {
	if findsCode(command, args) {
		if trusted, _ := p.trusted(); !trusted {
			return ""
		}
	}
	return o.work.Session().Cwd
}

// startsOutside reports whether a server starts outside the session's directory as long as
// the project is not trusted. Once it is, the server is restarted.
func startsOutside(p *project, server *mcp.Server) bool {
	if !findsCode(server.Command, server.Args) {
		return false
	}
	_, trusted, _ := p.lastRead()
	return !trusted
}
