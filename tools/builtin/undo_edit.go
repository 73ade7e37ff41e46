package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/textedit"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed undo_edit.md
var undoEditPrompt string

type undoEditArgs struct {
	Path string `json:"path"`
}

// undoEditData is the data of an undo. Diff is empty when there is no text to
// show.
type undoEditData struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
}

// newUndoEdit is the tool that takes back the last change of a file (R95).
func newUndoEdit() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "undo_edit",
		Description: prompt(undoEditPrompt),
		Kind:        kinds.Edit,
		Label:       "Undo edit",
		Describe:    pathTitle[undoEditArgs]("Undo edit of"),
		Default:     capability.AllowAlways,
		Parameters:  object(text("path", "Absolute path of the file.")),
		Requires:    capability.RequirementSet{FS: capability.FS{Write: []string{workspaceScope, adHocScope}}},
		Renames:     map[string]string{"file_path": "path"},
		Accepts:     &tools.Accepts{Names: commandOfEditor("undo_edit"), Fields: pathNames()},
		Preprocess:  absolutePath,
		Resources:   undoResources,
		Profile:     &tools.Profile{Keys: undoKeys},
		Preview:     tools.Previewing("undo_edit", previewUndoEdit),
	}, undoEdit)
}

// undoPaths are the file and all that its undo changes besides: a renaming is
// taken back under both of its names, and rules have a say about each.
func undoPaths(path string, env tools.Env) []string {
	paths := []string{path}
	if env.Undoing == nil {
		return paths
	}
	for _, other := range env.Undoing(path) {
		if other != path && (env.Resolve == nil || other != env.Resolve(path)) {
			paths = append(paths, other)
		}
	}
	return paths
}

func undoResources(args tools.Args, env tools.Env) []tools.Resource {
	var resources []tools.Resource
	for _, path := range undoPaths(env.Abs(tools.ArgsAs[undoEditArgs](args).Path), env) {
		resources = append(resources, tools.Resource{Kind: tools.PathWrite, Value: path})
	}
	return resources
}

func undoKeys(args tools.Args, env tools.Env) []tools.ResourceKey {
	var keys []tools.ResourceKey
	for _, path := range undoPaths(env.Abs(tools.ArgsAs[undoEditArgs](args).Path), env) {
		keys = append(keys, env.Key(path, true))
	}
	return keys
}

func undoEdit(ctx context.Context, rt tools.Runtime, a undoEditArgs) (*tools.Result, error) {
	path, changes, err := undoing(rt, a)
	if err != nil {
		return nil, err
	}
	for _, locked := range lockOrder(undoPaths(path, rt.Session().Env), rt.Session().Env) {
		unlock, err := rt.FS().Lock(ctx, locked)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	change, err := changes.Undo(ctx, path)
	if err != nil {
		return nil, fileFailure("undo_edit", path, err)
	}
	return undoResult(ctx, rt, change), nil
}

func previewUndoEdit(ctx context.Context, rt tools.Runtime, a undoEditArgs) ([]kinds.Content, error) {
	path, changes, err := undoing(rt, a)
	if err != nil {
		return nil, err
	}
	change, err := changes.Last(ctx, path)
	if err != nil {
		return nil, fileFailure("undo_edit", path, err)
	}
	return changeContent(ctx, change), nil
}

// undoing checks the arguments and what the session offers.
func undoing(rt tools.Runtime, a undoEditArgs) (path string, changes tools.Changes, err error) {
	if a.Path == "" {
		return "", nil, noPath("undo_edit")
	}
	if changes = rt.Services().Changes; changes == nil {
		return "", nil, tools.Errorf(tools.Unavailable, "undo_edit: changes of files are not tracked in this session")
	}
	return rt.Session().Abs(a.Path), changes, nil
}

// changeContent is the card of a change: a diff where there is text on both
// sides of it, or a file that comes or goes.
func changeContent(ctx context.Context, c tools.Change) []kinds.Content {
	content := mainContent(ctx, c)
	for _, path := range c.Also {
		content = append(content, kinds.Text{Text: "Also changes " + inCard(path) + "."})
	}
	return content
}

func mainContent(ctx context.Context, c tools.Change) []kinds.Content {
	switch {
	case c.New != nil || c.Old != nil && !c.Exists:
		before := tools.Text{Exists: c.Old != nil}
		if before.Exists {
			before.Content = *c.Old
		}
		after := ""
		if c.New != nil {
			after = *c.New
		}
		return []kinds.Content{diffOf(ctx, c.Path, before, after)}
	case c.Exists:
		return []kinds.Content{kinds.Text{Text: "Restores " + inCard(c.Path) + ", whose content cannot be shown."}}
	}
	return []kinds.Content{kinds.Text{Text: "Removes " + inCard(c.Path) + ", whose content cannot be shown."}}
}

func undoResult(ctx context.Context, rt tools.Runtime, c tools.Change) *tools.Result {
	data := undoEditData{Path: c.Path}
	content := changeContent(ctx, c)
	if d, ok := content[0].(kinds.Diff); ok {
		old := ""
		if d.Old != nil {
			old = *d.Old
		}
		data.Diff = textedit.Unified(ctx, rt.Session().Rel(c.Path), old, d.New)
	}
	if ctx.Err() != nil { // what was cut short is not shown
		data.Diff, content = "", nil
	}
	what := "the file is as it was before"
	if !c.Exists {
		what = "the file is gone again"
	}
	result := tools.Output(data)
	result.Text = strings.TrimSuffix(fmt.Sprintf("Undid the last change of %s: %s\n%s", c.Path, what, data.Diff), "\n")
	result.Content = content
	result.Locations = []kinds.Location{{Path: c.Path}}
	result.TrackFiles = []string{c.Path}
	return result
}
