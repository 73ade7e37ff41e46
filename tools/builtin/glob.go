package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/search"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed glob.md
var globPrompt string

type globArgs struct {
	FilePattern string   `json:"filePattern"`
	Limit       *float64 `json:"limit"`
	Offset      *float64 `json:"offset"`
}

// globData is the data of a glob (R43). Head repeats Files when the list was
// cut and stands whole in a sidecar (R105).
type globData struct {
	Files     []string `json:"files"`
	Remaining int      `json:"remaining"`
	Head      []string `json:"head,omitempty"`
}

// newGlob is the tool that finds files by name (R42-R45). One call gives at
// most Limits.GlobTotal paths.
func newGlob(rg ripgrep) tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "glob",
		Description: prompt(globPrompt),
		Kind:        kinds.Search,
		Label:       "Find files",
		Describe:    argumentTitle("Find", "filePattern"),
		Default:     capability.AllowAlways,
		Parameters: object(
			text("filePattern", `Pattern such as "**/*.js" or "src/**/*.ts".`),
			number("limit?", "Most paths to return."),
			number("offset?", "Paths to skip."),
		),
		Requires: capability.RequirementSet{FS: capability.FS{Read: []string{workspaceScope, adHocScope}}},
		Aliases:  []tools.Alias{{Name: "Glob"}},
		Renames:  map[string]string{"pattern": "filePattern"},
		Accepts:  globAccepts(),
		Resources: func(args tools.Args, env tools.Env) []tools.Resource {
			return []tools.Resource{{Kind: tools.PathRead, Value: globBase(args, env)}}
		},
		Profile: &tools.Profile{Keys: func(args tools.Args, env tools.Env) []tools.ResourceKey {
			return treeKey(env, globBase(args, env))
		}},
		ReadOnly: true,
		OwnLimit: true,
	}, func(ctx context.Context, rt tools.Runtime, a globArgs) (*tools.Result, error) {
		return glob(ctx, rt, rg, a)
	})
}

// globBase is the directory that a call walks.
func globBase(args tools.Args, env tools.Env) string {
	base, _ := searchBase(env, tools.ArgsAs[globArgs](args).FilePattern)
	return base
}

func glob(ctx context.Context, rt tools.Runtime, rg ripgrep, a globArgs) (*tools.Result, error) {
	if a.FilePattern == "" {
		return nil, tools.Errorf(tools.BadInput, "glob: filePattern must not be empty")
	}
	limit, err := count("limit", a.Limit, math.MaxInt)
	if err != nil {
		return nil, err
	}
	offset, err := count("offset", a.Offset, 0)
	if err != nil {
		return nil, err
	}
	base, pattern := searchBase(rt.Session().Env, a.FilePattern)
	dir, err := rt.FS().Dir(ctx, base)
	if err != nil {
		return nil, fileFailure("search", base, err)
	}
	defer dir.Close()
	o := search.GlobOptions{Base: base, Pattern: pattern, Ignore: ignoresAbove(ctx, rt, base)}
	narrowed, err := rg.files(ctx, rt, dir, o)
	if err != nil {
		return nil, searchFailure("glob", base, err, "")
	}
	found, err := search.Glob(ctx, narrowed, o)
	if err != nil {
		return nil, searchFailure("glob", base, err, "")
	}
	found.Paths = slices.DeleteFunc(found.Paths, beneath(rt, base, rt.FS().Hidden))
	return globResult(rt, found, limit, offset)
}

// globResult cuts one page out of what was found. Only a page that was not
// asked to be smaller and is too long counts as truncated (R105).
func globResult(rt tools.Runtime, found search.GlobResult, limit, offset int) (*tools.Result, error) {
	total := len(found.Paths)
	from := min(offset, total)
	wanted := min(limit, total-from)
	page := found.Paths[from : from+min(wanted, rt.Session().Limits.GlobTotal)]
	data := globData{Files: append([]string{}, page...), Remaining: total - from - len(page)}
	result := &tools.Result{}
	var notes []string
	switch {
	case total == 0:
		notes = append(notes, "No files found.")
	case len(page) < wanted:
		path, note := keepWhole(rt, "list", func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Join(found.Paths, "\n")+"\n")
			return err
		})
		data.Head, result.Truncated, result.OutputPath = data.Files, true, path
		notes = append(notes, fmt.Sprintf("[%d more; %s]", data.Remaining, note))
	case data.Remaining > 0:
		notes = append(notes, fmt.Sprintf("[%d more; continue with offset %d]", data.Remaining, offset+len(page)))
	case len(page) == 0:
		notes = append(notes, fmt.Sprintf("[all of the %d files found lie before offset %d]", total, offset))
	}
	gap := "\n\n"
	if len(notes) == 0 {
		gap = "\n"
	}
	if found.Truncated {
		notes = append(notes, "[the search ended early: there may be more files]")
	}
	lines := strings.Join(page, "\n")
	if len(notes) > 0 {
		lines += gap + strings.Join(notes, "\n")
	}
	result.Data, result.Text = data, strings.TrimPrefix(lines, "\n\n")
	result.Content = notedCard(strings.Join(fromHere(rt, page), "\n"), notes...)
	return result, nil
}
