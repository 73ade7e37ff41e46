package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/search"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// The limits of grep. The bound of all hits together is
// Limits.GrepTotal.
const (
	grepPerFile = 10
	grepLine    = 200
	// grepSpool is how much of all hits is held in memory.
	grepSpool = 256 << 10
)

//go:embed grep.md
var grepPrompt string

type grepArgs struct {
	Pattern       string `json:"pattern"`
	Path          string `json:"path"`
	Glob          string `json:"glob"`
	CaseSensitive bool   `json:"caseSensitive"`
	Literal       bool   `json:"literal"`
	// What models ask for besides, which the schema that they are sent does not have.
	Mode      string `json:"mode"`
	HeadLimit int    `json:"head_limit"`
	Before    int    `json:"before"`
	After     int    `json:"after"`
}

// newGrep is the tool that searches in files (R46-R50).
func newGrep(rg ripgrep) tools.Tool {
	shown := []argument{
		text("pattern", "What to search for."),
		text("path?", "File or directory to search. Not with glob."),
		text("glob?", "Files to search, by name. Not with path."),
		flag("caseSensitive?", "Match case."),
		flag("literal?", "Take pattern as plain text."),
	}
	return tools.Define(tools.Spec{
		ID:          "grep",
		Description: prompt(grepPrompt),
		Kind:        kinds.Search,
		Label:       "Search",
		Describe:    grepTitle,
		Default:     capability.AllowAlways,
		Shown:       object(shown...),
		Parameters: object(append(slices.Clone(shown),
			choice("mode?", "What of the hits is shown.", "content", grepPaths, grepCounts),
			natural("head_limit?", "Most lines to return."),
			natural("before?", "Lines to show before each hit."),
			natural("after?", "Lines to show after each hit."),
		)...),
		Requires:   capability.RequirementSet{FS: capability.FS{Read: []string{workspaceScope, adHocScope}}},
		Aliases:    []tools.Alias{{Name: "Grep"}, {Name: "search", Renames: map[string]string{"query": "pattern"}}},
		Accepts:    grepAccepts(),
		Preprocess: absolutePath,
		Resources: func(args tools.Args, env tools.Env) []tools.Resource {
			return []tools.Resource{{Kind: tools.PathRead, Value: grepBase(args, env)}}
		},
		Profile: &tools.Profile{Keys: func(args tools.Args, env tools.Env) []tools.ResourceKey {
			return treeKey(env, grepBase(args, env))
		}},
		ReadOnly: true,
		OwnLimit: true,
	}, func(ctx context.Context, rt tools.Runtime, a grepArgs) (*tools.Result, error) {
		return grep(ctx, rt, rg, a)
	})
}

// grepTitle names what is searched for, and where. The path is often a directory, which no
// editor follows, so there is no location.
func grepTitle(args tools.Args, in kinds.Place) kinds.Card {
	a := tools.ArgsAs[grepArgs](args)
	switch {
	case a.Pattern == "":
		return kinds.Card{}
	case a.Glob != "":
		return kinds.Card{Title: "Search for " + a.Pattern + " in " + a.Glob}
	case a.Path != "":
		return kinds.Card{Title: "Search for " + a.Pattern + " in " + in.Rel(in.Abs(a.Path))}
	}
	return kinds.Card{Title: "Search for " + a.Pattern}
}

// grepBase is the file or directory that a call reads.
func grepBase(args tools.Args, env tools.Env) string {
	a := tools.ArgsAs[grepArgs](args)
	if a.Path != "" {
		return env.Abs(a.Path)
	}
	base, _ := searchBase(env, a.Glob)
	return base
}

func grep(ctx context.Context, rt tools.Runtime, rg ripgrep, a grepArgs) (*tools.Result, error) {
	switch {
	case a.Pattern == "":
		return nil, tools.Errorf(tools.BadInput, "grep: pattern must not be empty")
	}
	all := &spool{rt: rt, limit: grepSpool}
	found, base, err := grepFiles(ctx, rt, rg, a, all)
	if err != nil {
		all.close()
		return nil, searchFailure("grep", base, err, "To search for plain text, set literal:true.")
	}
	a.reshape(ctx, rt, &found)
	return grepResult(rt, found, all), nil
}

// grepFiles searches what path or glob name, else the session's directory.
func grepFiles(
	ctx context.Context, rt tools.Runtime, rg ripgrep, a grepArgs, all *spool,
) (found search.GrepResult, base string, err error) {
	limits := rt.Session().Limits
	o := search.GrepOptions{
		Pattern: a.Pattern, Literal: a.Literal, CaseSensitive: a.CaseSensitive,
		MaxPerFile: grepPerFile, MaxTotal: limits.GrepTotal, MaxLine: grepLine,
	}
	a.limits(&o)
	file := ""
	if a.Path == "" {
		base, o.Glob = searchBase(rt.Session().Env, a.Glob)
	} else {
		base = rt.Session().Abs(a.Path)
		if rt.FS().Secret(base) {
			return found, base, tools.SecretRefused(base)
		}
		info, err := rt.FS().Stat(ctx, base)
		if err != nil {
			return found, base, err
		}
		if !info.IsDir {
			base, file = fileIn(rt.Session().Env, base, info.Real)
		}
		o.Hidden = namesHidden(rt.Session().Rel(base))
	}
	o.Base, o.Skip = base, beneath(rt, base, func(path string) bool {
		return rt.FS().SecretName(path) || rt.FS().Hidden(path) || rt.FS().HoldsAddress(path)
	})
	dir, err := rt.FS().Dir(ctx, base)
	if err != nil {
		return found, base, err
	}
	defer dir.Close()
	if file != "" {
		found, err = search.GrepFile(ctx, dir, file, o, all)
		return found, base, err
	}
	o.Ignore = ignoresAbove(ctx, rt, base)
	narrowed, err := rg.matching(ctx, rt, dir, o)
	if err != nil {
		return found, base, err
	}
	found, err = search.Grep(ctx, narrowed, o, all)
	return found, base, err
}

// beneath makes of a test of paths one for the files of a search in base. The
// search follows no links, so beneath base a name says where a file is; base
// itself is resolved once instead of once a file.
func beneath(rt tools.Runtime, base string, test func(path string) bool) func(path string) bool {
	realBase := base
	if resolve := rt.Session().Resolve; resolve != nil {
		realBase = resolve(base)
	}
	return func(path string) bool {
		return test(path) || realBase != base && test(realBase+strings.TrimPrefix(path, base))
	}
}

// fileIn splits the path of a file into a directory and a name in it. A path
// that is itself a symlink gives the file it leads to, for the search engine
// follows none.
func fileIn(env tools.Env, path, realPath string) (dir, name string) {
	dir, name = filepath.Dir(path), filepath.Base(path)
	if realPath != "" && env.Resolve != nil && filepath.Join(env.Resolve(dir), name) != realPath {
		return filepath.Dir(realPath), filepath.Base(realPath)
	}
	return dir, name
}

// grepResult makes the array of R47, or its head when hits were left out.
func grepResult(rt tools.Runtime, found search.GrepResult, all *spool) *tools.Result {
	if found.Total == 0 {
		all.close()
		lines := []string{"No results found.", "If you meant to search for a literal string, run Grep again with literal:true."}
		skipped := passedOver(found)
		return &tools.Result{
			Data: lines, Text: strings.Join(append(lines, skipped...), "\n"), Content: notedCard("", append([]string{"no results"}, skipped...)...),
		}
	}
	var notes []string
	result := &tools.Result{Data: found.Lines, Text: strings.Join(found.Lines, "\n")}
	if found.Omitted() > 0 || found.Truncated {
		path, note := all.keep("list")
		result.Data = map[string][]string{"head": found.Lines}
		result.Truncated, result.OutputPath = true, path
		notes = append(notes, fmt.Sprintf("[%d of %d hits in %d files; %s]", len(found.Lines), found.Total, found.Files, note))
		result.Text += "\n\n" + notes[0]
	} else {
		all.close()
	}
	if skipped := passedOver(found); len(skipped) > 0 {
		result.Text += "\n" + strings.Join(skipped, "\n")
		notes = append(notes, skipped...)
	}
	result.Content = notedCard(strings.Join(fromHere(rt, found.Lines), "\n"), notes...)
	return result
}

// passedOver tells the model of files that could have held a hit and were not
// searched.
func passedOver(found search.GrepResult) []string {
	var notes []string
	if found.Secret > 0 {
		notes = append(notes, fmt.Sprintf("[%d files that hold secrets were not searched]", found.Secret))
	}
	if found.Unreadable > 0 {
		notes = append(notes, fmt.Sprintf("[%d files or directories could not be read]", found.Unreadable))
	}
	if found.Truncated {
		notes = append(notes, "[the search ended early: there may be more hits]")
	}
	return notes
}
