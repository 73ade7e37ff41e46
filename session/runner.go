package session

import (
	"path"
	"slices"
	"strings"

	"acp-agent/mcp"
)

// runners are programs that run a package by its name, which they look for in the directory
// that they start in before anywhere else, and whose settings there say where it comes from.
// Those with words do so after one of them.
var runners = map[string][]string{
	"npx": nil, "pnpx": nil, "bunx": nil, "uvx": nil, "pipx": nil,
	"npm": {"exec", "x"}, "pnpm": {"dlx", "exec"}, "yarn": {"dlx", "exec"}, "bun": {"x"}, "uv": {"tool"},
	"python": {"-m", "-c"}, "pypy": {"-m", "-c"},
}

// findsCode reports whether a program runs by its name what could lie in the directory that
// it starts in. Started in a project it would be the project's to say what runs.
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
func (s *sources) programDir(command string, args []string) string {
	if findsCode(command, args) {
		if trusted, _ := s.project.trusted(); !trusted {
			return ""
		}
	}
	return s.work.Session().Cwd
}

// startsOutside reports whether a server starts outside the session's directory as long as
// the project is not trusted. Once it is, the server is restarted.
func (s *sources) startsOutside(server *mcp.Server) bool {
	if !findsCode(server.Command, server.Args) {
		return false
	}
	_, trusted, _ := s.project.lastRead()
	return !trusted
}
