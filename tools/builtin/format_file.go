package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
	"acp-agent/internal/textcut"
	"acp-agent/internal/textedit"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed format_file.md
var formatFilePrompt string

// formatterErrors bounds what is returned of a formatter's complaints, in bytes.
const formatterErrors = 4 << 10

type formatFileArgs struct {
	Path string `json:"path"`
}

// formatFileData is the data of a formatted file: Diff is empty when nothing
// was changed.
type formatFileData struct {
	Formatter string `json:"formatter"`
	Changed   bool   `json:"changed"`
	Diff      string `json:"diff,omitempty"`
}

// formatFile is the tool with the formatters of the configuration.
type formatFile struct{ configured map[string][]string }

// newFormatFile is the tool that formats a file (R96). formatters are the user's
// own by extension, in lower case with the dot: a program and its arguments, with
// {file} for the file's path; it reads the text on its standard input and prints
// it formatted. An empty list turns formatting off; what is not named gets the
// standard formatter of its language, when that is installed.
func newFormatFile(formatters map[string][]string) tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "format_file",
		Description: prompt(formatFilePrompt),
		Kind:        kinds.Edit,
		Label:       "Format file",
		Describe:    pathTitle[formatFileArgs]("Format"),
		Default:     capability.AllowTrusted,
		Parameters:  object(text("path", "Absolute path of the file.")),
		Requires: capability.RequirementSet{
			FS:           capability.FS{Read: []string{workspaceScope}, Write: []string{workspaceScope}},
			Capabilities: []string{capability.CapShellRun},
		},
		Renames:    map[string]string{"file_path": "path"},
		Preprocess: absolutePath,
		Resources:  formatResources,
		Profile:    fileProfile[formatFileArgs](),
		Preview:    tools.Previewing("format_file", formatFile{formatters}.preview),
	}, formatFile{formatters}.run)
}

func (f formatFile) run(ctx context.Context, rt tools.Runtime, a formatFileArgs) (*tools.Result, error) {
	if a.Path == "" {
		return nil, noPath("format_file")
	}
	path := rt.Session().Abs(a.Path)
	// Its diff would tell what stands in it (P8).
	if rt.FS().Secret(path) {
		return nil, secretKept(path)
	}
	formatters, err := f.candidates(path)
	if err != nil {
		return nil, err
	}
	unlock, err := rt.FS().Lock(ctx, path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, err := textOf(ctx, rt, "format", path)
	if err != nil {
		return nil, err
	}
	name, after, err := firstInstalled(ctx, rt, path, before.Content, formatters)
	if err != nil {
		return nil, err
	}
	if after == before.Content {
		result := tools.Output(formatFileData{Formatter: name})
		result.Text = fmt.Sprintf("%s is already formatted (%s)", path, name)
		result.Content = textCard(result.Text)
		result.Locations = []kinds.Location{{Path: path}}
		return result, nil
	}
	result := formatResult(ctx, rt, path, name, before, after)
	if err := rt.FS().WriteText(ctx, path, after, &before); err != nil {
		return nil, fileFailure("format", path, err)
	}
	return result, nil
}

// candidates are the formatters that would do, the best one first.
func (f formatFile) candidates(path string) ([][]string, error) {
	extension := strings.ToLower(filepath.Ext(path))
	formatters := standardFormatters(extension)
	if own, given := f.configured[extension]; given {
		formatters = nil
		if len(own) > 0 {
			formatters = [][]string{own}
		}
	}
	if len(formatters) > 0 {
		return formatters, nil
	}
	return nil, &tools.Error{
		Kind: tools.Unavailable, Path: path, Message: fmt.Sprintf("no formatter is configured for %s", filepath.Base(path)),
		Detail: `The user sets formatters by extension under "format" in the configuration.`,
	}
}

// standardFormatters are the usual formatters of a language, as filters.
func standardFormatters(extension string) [][]string {
	switch extension {
	case ".go":
		return [][]string{{"gofmt"}}
	case ".rs":
		// Alone it takes the file for one of the oldest edition.
		return [][]string{{"rustfmt", "--quiet", "--emit", "stdout", "--edition", "2021"}}
	case ".py", ".pyi":
		return [][]string{
			{"ruff", "format", "--stdin-filename", "{file}", "-"},
			{"black", "--quiet", "--stdin-filename", "{file}", "-"},
		}
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp":
		return [][]string{{"clang-format", "--assume-filename={file}"}}
	case ".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json", ".jsonc", ".css", ".scss", ".less",
		".html", ".vue", ".md", ".mdx", ".yaml", ".yml", ".graphql":
		// Its configuration may be a program, and names plugins, which are.
		return [][]string{{"prettier", "--no-config", "--no-editorconfig", "--stdin-filepath", "{file}"}}
	case ".sh", ".bash":
		return [][]string{{"shfmt", "-filename", "{file}"}}
	}
	return nil
}

// firstInstalled runs the first of the formatters that is there.
func firstInstalled(ctx context.Context, rt tools.Runtime, path, content string, formatters [][]string) (name, after string, err error) {
	var names []string
	for _, args := range formatters {
		after, err = filter(ctx, rt, path, content, args)
		failure, known := errors.AsType[*tools.Error](err)
		if !known || failure.Kind != tools.Unavailable {
			return args[0], after, err
		}
		names = append(names, args[0])
	}
	if len(names) == 1 {
		return "", "", err // it says which, and why
	}
	return "", "", &tools.Error{
		Kind: tools.Unavailable, Path: path, Err: err,
		Message: fmt.Sprintf("no formatter for %s is installed; install one of %s", filepath.Base(path), strings.Join(names, ", ")),
	}
}

// filter sends a text through a formatter.
func filter(ctx context.Context, rt tools.Runtime, path, content string, args []string) (string, error) {
	limit := int(rt.Session().Limits.FileBytes)
	output := textcut.NewHead(cmp.Or(limit, math.MaxInt))
	complaints := textcut.NewHead(formatterErrors)
	program := tools.Program{
		Args: withFile(args, path), Dir: formatDir(rt, path), Env: tools.OwnToolchain(), Stdin: []byte(content), Stderr: complaints,
	}
	exit, err := rt.Processes().Exec(ctx, program, output)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		if _, known := errors.AsType[*tools.Error](err); known {
			return "", err
		}
		return "", &tools.Error{Kind: tools.Backend, Path: path, Message: fmt.Sprintf("run %s: %v", args[0], err), Err: err}
	case exit.Code != 0 || exit.Signal != "":
		return "", formatterFailed(path, args[0], exit, complaints)
	case output.Cut():
		return "", tools.Oversize(path, int64(limit)+1, int64(limit))
	case len(output.Bytes()) == 0 && strings.TrimSpace(content) != "":
		return "", tools.Errorf(tools.Backend, "%s printed nothing for %s; the file was left as it is", args[0], path)
	}
	return string(output.Bytes()), nil
}

// formatDir is where a formatter looks for its settings: beside the file when
// that is in the session's own directories.
func formatDir(rt tools.Runtime, path string) string {
	if session := rt.Session(); pathname.Innermost(session.Roots, session.Resolve(path)) != "" {
		return filepath.Dir(path)
	}
	return rt.Session().Cwd
}

func formatterFailed(path, name string, exit tools.Exit, complaints *textcut.Head) *tools.Error {
	how := fmt.Sprintf("exit code %d", exit.Code)
	if exit.Signal != "" {
		how = exit.Signal
	}
	said := strings.TrimSpace(cleanOutput(string(complaints.Bytes())))
	if complaints.Cut() {
		said += "\n[more was left out]"
	}
	return &tools.Error{
		Kind: tools.Backend, Path: path, Message: strings.TrimSpace(fmt.Sprintf("%s failed on %s (%s)\n%s", name, path, how, said)),
		Detail: "The file was left as it is.",
	}
}

func formatResult(ctx context.Context, rt tools.Runtime, path, name string, before tools.Text, after string) *tools.Result {
	diff := textedit.Unified(ctx, rt.Session().Rel(path), before.Content, after)
	data := formatFileData{Formatter: name, Changed: true, Diff: validText(ctx, diff)}
	result := tools.Output(data)
	result.Text = strings.TrimSuffix(fmt.Sprintf("Formatted %s (%s)\n%s", path, name, data.Diff), "\n")
	result.Content = []kinds.Content{diffOf(ctx, path, before, after)}
	result.Locations = []kinds.Location{{Path: path}}
	result.TrackFiles = []string{path}
	return result
}
