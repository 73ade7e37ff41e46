package builtin

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// runsCode is said of every program that reads settings beside the file that it
// is given (O1).
const runsCode = "It may run code that this project configures."

// preview names the program, which the arguments do not tell, and where it runs.
func (f formatFile) preview(_ context.Context, rt tools.Runtime, a formatFileArgs) ([]kinds.Content, error) {
	if a.Path == "" {
		return nil, noPath("format_file")
	}
	path := rt.Session().Abs(a.Path)
	if rt.FS().Secret(path) {
		return nil, secretKept(path)
	}
	formatters, err := f.candidates(path)
	if err != nil {
		return nil, err
	}
	says := "Runs"
	if len(formatters) > 1 {
		says = "Runs the first of these that is installed"
	}
	var commands []string
	for _, argv := range formatters {
		commands = append(commands, commandLine(withFile(argv, path)))
	}
	what := kinds.Fence("sh", kinds.Visible(strings.Join(commands, "\n")))
	return programCard(says, what, formatDir(rt, path)), nil
}

// programCard says what will run, as a block, and in which directory.
func programCard(says, what, dir string) []kinds.Content {
	return []kinds.Content{kinds.Text{Text: fmt.Sprintf("%s\n\n%s\n\nin the directory\n\n%s\n\n%s",
		says, what, kinds.Fence("", kinds.Visible(dir)), runsCode)}}
}

// commandLine shows the arguments of a program so that no two lists look alike.
func commandLine(argv []string) string {
	shown := make([]string, len(argv))
	for i, arg := range argv {
		shown[i] = arg
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return r <= ' ' || strings.ContainsRune("'\"\\`$&|;<>()*?[]{}#~!", r) }) {
			shown[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(shown, " ")
}

// withFile puts the file's path into the arguments of a formatter.
func withFile(argv []string, path string) []string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = strings.ReplaceAll(arg, "{file}", path)
	}
	return out
}

// startedFor is the resource of a tool that starts the program of a language: the
// language, by its extension with the dot.
func startedFor(path string) []tools.Resource {
	extension := strings.ToLower(filepath.Ext(path))
	if extension == "" {
		return nil // nothing is started for such a file
	}
	return []tools.Resource{{Kind: tools.Executable, Value: extension}}
}

// formatResources are the file and the formatter of its language.
func formatResources(args tools.Args, env tools.Env) []tools.Resource {
	file := touches[formatFileArgs](tools.PathRead, tools.PathWrite)(args, env)
	return append(file, startedFor(tools.ArgsAs[formatFileArgs](args).Path)...)
}
