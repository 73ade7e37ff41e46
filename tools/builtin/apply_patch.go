package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/patch"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed apply_patch.md
var applyPatchPrompt string

type applyPatchArgs struct {
	Patch string `json:"patch"`
}

// patchData is the data of an applied patch.
type patchData struct {
	Files []patchedFile `json:"files"`
}

// patchedFile is what became of one file. Path is absolute, To the name after a
// rename; the numbers count lines.
type patchedFile struct {
	Path    string   `json:"path"`
	To      string   `json:"to,omitempty"`
	Op      patch.Op `json:"op"`
	Added   int      `json:"added"`
	Removed int      `json:"removed"`
}

// newApplyPatch is the tool that changes several files at once (R97). A patch
// that names more than Limits.FilesPerCall paths is refused, and so is one that
// is larger than Limits.FileBytes, or a file that is before or after it (R104).
// Every path is judged by itself, both names of a rename too (R116), and files
// that hold secrets are left alone (R30).
func newApplyPatch() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "apply_patch",
		Description: prompt(applyPatchPrompt),
		Kind:        kinds.Edit,
		Label:       "Apply patch",
		Describe:    describePatch,
		Default:     capability.AllowChanges,
		Parameters:  object(text("patch", "The patch.")),
		Requires: capability.RequirementSet{FS: capability.FS{
			Read: []string{workspaceScope, adHocScope}, Write: []string{workspaceScope, adHocScope},
		}},
		Aliases:   []tools.Alias{{Name: "ApplyPatch"}},
		Renames:   map[string]string{"input": "patch", "diff": "patch"},
		Accepts:   patchAccepts(),
		Resources: patchResources,
		Profile:   &tools.Profile{Keys: patchKeys},
		Preview:   tools.Previewing("apply_patch", previewPatch),
	}, applyPatch)
}

// describePatch names every file that the patch touches. A patch that only deletes or only
// moves files has the kind of that.
func describePatch(args tools.Args, in kinds.Place) kinds.Card {
	parsed, err := patch.Parse(context.Background(), tools.ArgsAs[applyPatchArgs](args).Patch)
	if broken, ok := errors.AsType[*patch.Error](err); ok && broken.Path != "" {
		path := in.Abs(broken.Path)
		return kinds.Card{Title: "Patch " + in.Rel(path), Locations: []kinds.Location{{Path: path}}}
	}
	if err != nil || len(parsed.Files()) == 0 {
		return kinds.Card{}
	}
	var card kinds.Card
	var names []string
	deletes, moves := true, true
	for _, f := range parsed.Files() {
		deletes = deletes && f.Op == patch.Delete
		moves = moves && f.Op == patch.Rename && len(f.Hunks) == 0
		for _, name := range f.Names() {
			path := in.Abs(name)
			if slices.ContainsFunc(card.Locations, func(l kinds.Location) bool { return l.Path == path }) {
				continue
			}
			card.Locations, names = append(card.Locations, kinds.Location{Path: path}), append(names, in.Rel(path))
		}
	}
	switch card.Title = "Patch " + kinds.Names(names); {
	case deletes:
		card.Kind = kinds.Delete
	case moves:
		card.Kind = kinds.Move
	}
	return card
}

// patchPath is a path that a patch names; gone says that its file goes away.
type patchPath struct {
	name string
	gone bool
}

// patchPaths are the absolute paths that a patch touches, in its order. A patch
// that cannot be read touches none: the call itself says what is wrong with it.
func patchPaths(args tools.Args, env tools.Env) []patchPath {
	parsed, err := patch.Parse(context.Background(), tools.ArgsAs[applyPatchArgs](args).Patch)
	if err != nil {
		return nil
	}
	var paths []patchPath
	for _, f := range parsed.Files() {
		for _, name := range f.Names() {
			gone := f.Op == patch.Delete || f.Op == patch.Rename && name == f.Path
			paths = append(paths, patchPath{env.Abs(name), gone})
		}
	}
	return paths
}

func patchResources(args tools.Args, env tools.Env) []tools.Resource {
	var resources []tools.Resource
	for _, path := range patchPaths(args, env) {
		resources = append(resources,
			tools.Resource{Kind: tools.PathRead, Value: path.name},
			tools.Resource{Kind: tools.PathWrite, Value: path.name, Deletes: path.gone})
	}
	return resources
}

func patchKeys(args tools.Args, env tools.Env) []tools.ResourceKey {
	var keys []tools.ResourceKey
	for _, path := range patchPaths(args, env) {
		keys = append(keys, env.Key(path.name, true))
	}
	return keys
}

func applyPatch(ctx context.Context, rt tools.Runtime, a applyPatchArgs) (*tools.Result, error) {
	p, err := newPatching(ctx, rt, a)
	if err != nil {
		return nil, err
	}
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	// Every hunk is tried on what the files hold now before the first is written.
	if err := p.plan(ctx); err != nil {
		return nil, err
	}
	// All that takes time is done before the first write.
	result := p.result(ctx)
	if err := p.write(ctx); err != nil {
		return nil, err
	}
	return result, nil
}

func previewPatch(ctx context.Context, rt tools.Runtime, a applyPatchArgs) ([]kinds.Content, error) {
	p, err := newPatching(ctx, rt, a)
	if err != nil {
		return nil, err
	}
	unlock, err := p.lock(ctx) // an editor may show a file that is half written
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := p.plan(ctx); err != nil {
		return nil, err
	}
	return p.content(ctx), nil
}

// patching is one call with the files as they were and as they will be.
type patching struct {
	rt    tools.Runtime
	steps []patchStep
}

// newPatching reads the patch and refuses what no content of the files could
// make right.
func newPatching(ctx context.Context, rt tools.Runtime, a applyPatchArgs) (*patching, error) {
	limits := rt.Session().Limits
	if size := int64(len(a.Patch)); limits.FileBytes > 0 && size > limits.FileBytes {
		return nil, tools.Oversize("apply_patch", size, limits.FileBytes)
	}
	parsed, err := patch.Parse(ctx, a.Patch)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &tools.Error{Kind: tools.BadInput, Message: "apply_patch: " + err.Error(), Err: err}
	}
	p := &patching{rt: rt}
	for _, f := range parsed.Files() {
		step := patchStep{FileChange: f, path: rt.Session().Abs(f.Path)}
		if f.Op == patch.Rename {
			step.to = rt.Session().Abs(f.NewPath)
		}
		p.steps = append(p.steps, step)
	}
	paths := p.paths()
	if n := len(paths); limits.FilesPerCall > 0 && n > limits.FilesPerCall {
		return nil, tools.Errorf(tools.BadInput, "Too many files (%d). Maximum %d files per operation.", n, limits.FilesPerCall)
	}
	for _, path := range paths {
		// Misses, hints and diffs would all tell what stands in it (P8).
		if rt.FS().Secret(path) {
			return nil, secretKept(path)
		}
	}
	return p, p.distinct()
}

func (p *patching) paths() []string {
	var paths []string
	for _, s := range p.steps {
		paths = append(paths, s.paths()...)
	}
	return paths
}

// plan reads every file and makes its new text.
func (p *patching) plan(ctx context.Context) error {
	for i := range p.steps {
		if err := p.steps[i].plan(ctx, p.rt); err != nil {
			return err
		}
	}
	return nil
}

func (p *patching) content(ctx context.Context) []kinds.Content {
	var content []kinds.Content
	for i := range p.steps {
		content = append(content, p.steps[i].content(ctx)...)
	}
	return content
}

func (p *patching) result(ctx context.Context) *tools.Result {
	var data patchData
	lines := []string{fmt.Sprintf("Applied the patch to %d files:", len(p.steps))}
	result := &tools.Result{Content: p.content(ctx), TrackFiles: p.paths()}
	for i := range p.steps {
		s := &p.steps[i]
		added, removed := s.count()
		data.Files = append(data.Files, patchedFile{Path: s.path, To: s.to, Op: s.Op, Added: added, Removed: removed})
		line := fmt.Sprintf("%s %s (+%d -%d)", s.Op, strings.Join(s.paths(), " to "), added, removed)
		if s.Executable {
			line += ", not made executable: use chmod"
		}
		lines = append(lines, line)
		result.Locations = append(result.Locations, s.location())
	}
	slices.Reverse(result.Locations) // the most telling last: the first file
	result.Data, result.Text = data, strings.Join(lines, "\n")
	return result
}
