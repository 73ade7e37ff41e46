package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed lsp.md
var lspPrompt string

const (
	// lspPlaces bounds the places and findings that are returned.
	lspPlaces = 200
	// lspLine bounds the text shown of a line, in bytes.
	lspLine = 200
	// lspStride is after how many lines the end of a call is looked for.
	lspStride = 1024
	// lspCards bounds the locations of the card.
	lspCards = 50
)

type lspArgs struct {
	Operation string  `json:"operation"`
	Path      string  `json:"path"`
	Line      float64 `json:"line"`
	Column    float64 `json:"column"`
	Symbol    string  `json:"symbol"`
}

// lspLocations and lspDiagnostics are the data of the operations; Omitted counts
// what is over the limit.
type lspLocations struct {
	Server    string               `json:"server"`
	Locations []tools.CodeLocation `json:"locations"`
	Omitted   int                  `json:"omitted,omitempty"`
}

type lspDiagnostics struct {
	Server      string             `json:"server"`
	Diagnostics []tools.Diagnostic `json:"diagnostics"`
	Omitted     int                `json:"omitted,omitempty"`
}

// newLSP is the tool that asks language servers (R98). It returns at most 200
// places.
func newLSP() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "lsp",
		Description: prompt(lspPrompt),
		Kind:        kinds.Search,
		Label:       "Ask language server",
		Describe:    describeLSP,
		Default:     capability.AllowTrusted,
		Parameters: object(
			argument{"operation", &jsonschema.Schema{
				Type: "string", Enum: []any{tools.Definitions, tools.References, tools.Diagnostics}, Description: "What to ask.",
			}},
			text("path", "Absolute path of the file."),
			number("line?", "Line of the name, 1-based."),
			number("column?", "Column of the name in characters, 1-based."),
			text("symbol?", "The name itself, as it stands on the line; without a line, its first place in the file."),
		),
		Requires: capability.RequirementSet{
			FS: capability.FS{Read: []string{workspaceScope}}, Capabilities: []string{capability.CapShellRun},
		},
		Accepts:    lspAccepts(),
		Preprocess: absolutePath,
		Resources:  lspResources,
		Preview:    tools.Previewing("lsp", previewLSP),
		Profile: &tools.Profile{Keys: func(_ tools.Args, env tools.Env) []tools.ResourceKey {
			// What a server answers depends on every file beside it.
			return treeKey(env, "")
		}},
		ReadOnly: true,
		Lacks: func(s tools.Services) string {
			switch {
			case s.Languages == nil:
				return "this session has no language servers"
			case !s.Languages.Any():
				return "no language server is installed: see lsp"
			}
			return ""
		},
	}, lsp)
}

// describeLSP names the operation and the file. Diagnostics are read, other operations
// search.
func describeLSP(args tools.Args, in kinds.Place) kinds.Card {
	a := tools.ArgsAs[lspArgs](args)
	card := kinds.Card{Title: a.Operation}
	if a.Operation == tools.Diagnostics {
		card.Kind = kinds.Read
	}
	if a.Operation != "" && a.Path != "" {
		path := in.Abs(a.Path)
		card.Title, card.Locations = a.Operation+" in "+in.Rel(path), []kinds.Location{{Path: path}}
	}
	return card
}

func lsp(ctx context.Context, rt tools.Runtime, a lspArgs) (*tools.Result, error) {
	if a.Path == "" {
		return nil, noPath("lsp")
	}
	servers := rt.Services().Languages
	if servers == nil {
		return nil, tools.Errorf(tools.Unavailable, "lsp: language servers cannot be used in this session")
	}
	path := rt.Session().Abs(a.Path)
	if rt.FS().Secret(path) {
		return nil, tools.SecretRefused(path)
	}
	before, err := textOf(ctx, rt, "read", path)
	if err != nil {
		return nil, err
	}
	query := tools.LanguageQuery{Operation: a.Operation, Path: rt.Session().Resolve(path), Text: before.Content}
	if a.Operation != tools.Diagnostics {
		if query.Line, query.Column, err = a.place(ctx, path, before.Content); err != nil {
			return nil, err
		}
	}
	answer, err := servers.Ask(ctx, query)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		if _, known := errors.AsType[*tools.Error](err); known {
			return nil, err
		}
		return nil, &tools.Error{Kind: tools.Backend, Path: path, Message: "lsp: " + err.Error(), Err: err}
	case answer == nil:
		return nil, tools.Errorf(tools.Backend, "lsp: no answer about %s", path)
	case a.Operation == tools.Diagnostics:
		return diagnosticsResult(rt, path, answer), nil
	}
	return locationsResult(ctx, rt, a, answer)
}

// place is where in the file is asked, from what the model gave of line, column
// and symbol.
func (a lspArgs) place(ctx context.Context, path, content string) (line, column int, err error) {
	line, column = whole(a.Line), whole(a.Column)
	text, there := lineAt(ctx, content, line)
	switch {
	case ctx.Err() != nil:
		return 0, 0, context.Cause(ctx)
	case a.Symbol == "" && (line == 0 || column == 0):
		return 0, 0, tools.Errorf(tools.BadInput, "lsp: %s needs a line and either the symbol on it or its column", a.Operation)
	case line < 0 || column < 0 || line > 0 && !there:
		return 0, 0, tools.Errorf(tools.BadInput, "lsp: %s has no line %v; it has %d lines", path, a.Line, strings.Count(content, "\n")+1)
	case column > 0 && line > 0:
		return line, column, nil
	case line > 0:
		if column = symbolColumn(text, a.Symbol); column == 0 {
			return 0, 0, &tools.Error{
				Kind: tools.BadInput, Path: path, Message: fmt.Sprintf("lsp: %q is not on line %d of %s", a.Symbol, line, path),
				Hint: "The line is: " + clip(strings.TrimSpace(text), lspLine),
			}
		}
		return line, column, nil
	}
	for text := range strings.SplitSeq(content, "\n") {
		if line++; line%lspStride == 0 && ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		if column = symbolColumn(text, a.Symbol); column > 0 {
			return line, column, nil
		}
	}
	return 0, 0, &tools.Error{Kind: tools.BadInput, Path: path, Message: fmt.Sprintf("lsp: %q is not in %s", a.Symbol, path)}
}

// whole converts a number of the model to a line or column; what cannot be one becomes a number below 0.
func whole(n float64) int {
	if n != math.Trunc(n) || n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

func locationsResult(ctx context.Context, rt tools.Runtime, a lspArgs, answer *tools.LanguageAnswer) (*tools.Result, error) {
	found, omitted := most(answer.Locations)
	if err := quoteLines(ctx, rt, found); err != nil {
		return nil, err
	}
	result := tools.Output(lspLocations{Server: answer.Server, Locations: found, Omitted: omitted})
	var b strings.Builder
	for _, l := range found {
		fmt.Fprintf(&b, "%s:%d:%d", rt.Session().Rel(l.Path), l.Line, l.Column)
		if l.Text != "" {
			b.WriteString(": " + l.Text)
		}
		b.WriteByte('\n')
		result.Locations = append(result.Locations, kinds.Location{Path: l.Path, Line: l.Line})
	}
	finishList(result, &b, fmt.Sprintf("%s knows no %s of it.", answer.Server, a.Operation), omitted)
	return result, nil
}

func diagnosticsResult(rt tools.Runtime, path string, answer *tools.LanguageAnswer) *tools.Result {
	found, omitted := most(answer.Diagnostics)
	result := tools.Output(lspDiagnostics{Server: answer.Server, Diagnostics: found, Omitted: omitted})
	result.Locations = []kinds.Location{{Path: path}}
	var b strings.Builder
	for i, d := range found {
		if i == 0 {
			result.Locations = nil
		}
		message := strings.ReplaceAll(strings.TrimSpace(d.Message), "\n", "\n  ")
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s", rt.Session().Rel(d.Path), d.Line, d.Column, d.Severity, message)
		if label := strings.TrimSpace(d.Source + " " + d.Code); label != "" {
			b.WriteString(" [" + label + "]")
		}
		b.WriteByte('\n')
		result.Locations = append(result.Locations, kinds.Location{Path: d.Path, Line: d.Line})
	}
	finishList(result, &b, fmt.Sprintf("%s finds nothing wrong with %s.", answer.Server, path), omitted)
	return result
}

// finishList ends the text of a result that is a list.
func finishList(result *tools.Result, lines *strings.Builder, none string, omitted int) {
	if lines.Len() == 0 {
		lines.WriteString(none)
	}
	if omitted > 0 {
		fmt.Fprintf(lines, "[%d more left out]\n", omitted)
		result.Truncated = true
	}
	result.Text = strings.TrimSuffix(lines.String(), "\n")
	result.Content = textCard(result.Text)
	result.Locations = result.Locations[:min(len(result.Locations), lspCards)]
}

// most is the beginning of a list, never nil, and how many were left out.
func most[E any](list []E) (head []E, omitted int) {
	n := min(len(list), lspPlaces)
	return append([]E{}, list[:n]...), len(list) - n
}
