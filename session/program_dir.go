package session

import (
	"path"
	"slices"
	"strings"

	"acp-agent/mcp"
)

// packageRunners are programs that run a package by its name, and look in their working directory first for
// the package and for settings that name its source. A list restricts this to some subcommands and
// flags.
var packageRunners = map[string][]string{
	"npx": nil, "pnpx": nil, "bunx": nil, "uvx": nil, "pipx": nil,
	"npm": {"exec", "x"}, "pnpm": {"dlx", "exec"}, "yarn": {"dlx", "exec"}, "bun": {"x"}, "uv": {"tool"},
	"python": {"-m", "-c"}, "pypy": {"-m", "-c"},
}

// findsCode reports whether a command line would run code found in its working directory. Started
// in a project, it would let the project choose what runs.
func findsCode(command string, args []string) bool {
	var words []string
	for _, arg := range append([]string{command}, args...) { // sh -c has several words in one
		words = append(words, strings.Fields(arg)...)
	}
	for i, word := range words {
		name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
		if strings.HasPrefix(name, "py") {
			name = strings.TrimRight(name, "0123456789.") // python3.12
		}
		after, known := packageRunners[name]
		if known && (after == nil || slices.ContainsFunc(words[i+1:], func(w string) bool { return slices.Contains(after, w) })) {
			return true
		}
	}
	return false
}

// programDir is the directory in which a program of the editor or the user starts: the session's, or ""
// for one outside of all projects when the program would run code of a project that the user does not
// trust.
func programDir(o opened, p *project, command string, args []string) string {
	if findsCode(command, args) {
		if trusted, _ := p.readTrusted(); !trusted {
			return ""
		}
	}
	return o.work.Session().Cwd
}

// startsOutside reports whether a server starts outside the session's directory because the project is
// not trusted. When the user trusts it, the server is restarted inside.
func startsOutside(p *project, server *mcp.Server) bool {
	if !findsCode(server.Command, server.Args) {
		return false
	}
	_, trusted, _ := p.lastRead()
	return !trusted
}
