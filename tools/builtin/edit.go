package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/internal/textedit"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed edit.md
var editPrompt string

type editArgs struct {
	Path string `json:"path"`
	textChange
	// Edits are several changes, made one after the other, all or none.
	Edits []textChange `json:"edits"`
	// Expected is how many places there are to be changed; 0 leaves it to ReplaceAll.
	Expected int `json:"expected_replacements"`
}

// textChange is one change of a text.
type textChange struct {
	OldStr     string `json:"old_str"`
	NewStr     string `json:"new_str"`
	ReplaceAll bool   `json:"replace_all"`
}

// editData is the data of an edit (R39): LineRange is 1-based in the new file.
type editData struct {
	Diff      string `json:"diff"`
	LineRange [2]int `json:"lineRange"`
}

// newEdit is the tool that replaces text in a file (R36-R41). Files over
// Limits.FileBytes are refused.
func newEdit() tools.Tool {
	return tools.DefinePlanned(tools.Spec{
		ID:          "edit",
		Description: prompt(editPrompt),
		Kind:        kinds.Edit,
		Label:       "Edit file",
		Describe:    pathTitle[editArgs]("Edit"),
		Default:     capability.AllowChanges,
		Shown:       object(append([]argument{editPath()}, changeArguments()...)...),
		Parameters: object(append([]argument{
			editPath(), natural("expected_replacements?", "How many places are to be replaced."),
		}, changeArguments()...)...),
		Variants: map[string]*jsonschema.Schema{
			"edits": object(editPath(), several("edits", "Several changes, made in order, all or none.", object(changeArguments()...))),
		},
		Requires: capability.RequirementSet{FS: capability.FS{
			Read: []string{workspaceScope, adHocScope}, Write: []string{workspaceScope, adHocScope},
		}},
		Aliases:    []tools.Alias{{Name: "Edit"}, {Name: "edit_file"}},
		Accepts:    editAccepts(),
		Preprocess: absolutePath,
		Resources:  touches[editArgs](tools.PathRead, tools.PathWrite),
		Profile:    fileProfile[editArgs](),
	}, previewEdit, edit)
}

// changeArguments are the arguments of one change.
func changeArguments() []argument {
	return []argument{
		text("old_str", "Text to replace."),
		text("new_str", "Text to put in its place."),
		defaulted(flag("replace_all?", "Replace every occurrence."), "false"),
	}
}

func editPath() argument { return text("path", "Absolute path of the file.") }

func edit(ctx context.Context, rt tools.Runtime, a editArgs, planned *editing) (*tools.Result, error) {
	e, err := newEditing(rt, a)
	if err != nil {
		return nil, err
	}
	unlock, err := rt.FS().Lock(ctx, e.path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	// The change is made to what the file holds now, not to what was shown when the call
	// was approved (R41): the write finds out whether that still is the text which the
	// preview, or the match, was made on. The lock keeps out other calls, not the user and
	// what commands do: when they were faster, the match is made anew. The text of an editor
	// may change with each key and is asked for again at once.
	for try := 1; ; try++ {
		if try == 1 && planned != nil && !planned.before.FromEditor {
			e.before, e.applied = planned.before, planned.applied
		} else if err := e.match(ctx); err != nil {
			return nil, err
		}
		// All that takes time is done before the write, which can then be told at once.
		result := e.result(ctx)
		err := rt.FS().WriteText(ctx, e.path, e.applied.Content, &e.before)
		switch {
		case err == nil:
			return result, nil
		case try == editTries || ctx.Err() != nil || !errors.Is(err, tools.ErrChanged):
			return nil, fileFailure("edit", e.path, err)
		}
	}
}

// editTries is how often a match is made on a file that others go on changing.
const editTries = 5

func previewEdit(ctx context.Context, rt tools.Runtime, a editArgs) (*editing, []kinds.Content, error) {
	e, err := newEditing(rt, a)
	if err != nil {
		return nil, nil, err
	}
	// An editor may save in place, and so show a file that is half written.
	unlock, err := rt.FS().Lock(ctx, e.path)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	if err := e.match(ctx); err != nil {
		return nil, nil, err
	}
	return e, e.content(ctx), nil
}

// editing is one call with the file as it was and as it will be.
type editing struct {
	editArgs
	rt      tools.Runtime
	path    string
	before  tools.Text
	applied textedit.Result
}

func newEditing(rt tools.Runtime, a editArgs) (*editing, error) {
	if a.Path == "" {
		return nil, noPath("edit")
	}
	path := rt.Session().Abs(a.Path)
	// Matches, misses, hints and diffs would all tell what stands in it (P8).
	if rt.FS().Secret(path) {
		return nil, secretKept(path)
	}
	return &editing{editArgs: a, rt: rt, path: path}, nil
}

// match checks in the order of R37: the file exists, the strings differ, the
// old one is found.
func (e *editing) match(ctx context.Context) (err error) {
	e.before, err = e.rt.FS().ReadText(ctx, e.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !e.before.Exists {
		return &tools.Error{
			Kind: tools.BadInput, Path: e.path, Message: "file not found. Cannot update a file that doesn't exist.",
		}
	}
	if err != nil {
		return fileFailure("edit", e.path, err)
	}
	if hasNUL(e.before.Content) {
		return tools.BinaryRefused(e.path)
	}
	if err := e.apply(ctx); err != nil {
		return err
	}
	limit := e.rt.Session().Limits.FileBytes
	if size := int64(len(e.applied.Content)); limit > 0 && size > limit {
		return tools.Oversize(e.path, size, limit)
	}
	return nil
}

// apply makes all changes of the call on the text, in order.
func (e *editing) apply(ctx context.Context) error {
	changes := e.Edits
	if len(changes) == 0 {
		changes = []textChange{e.textChange}
	}
	content, total, fuzzy := e.before.Content, 0, false
	for i, c := range changes {
		applied, err := applyText(ctx, content, c, c.ReplaceAll || e.Expected > 1)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failure := e.mismatch(ctx, content, c.OldStr, err)
			if len(changes) > 1 {
				failure.Message = fmt.Sprintf("edits[%d]: %s", i, failure.Message)
				failure.Detail = "None of the edits was made."
			}
			return failure
		}
		content, total, fuzzy = applied.Content, total+applied.Replacements, fuzzy || applied.Fuzzy
		e.applied = applied
	}
	if e.Expected > 0 && total != e.Expected {
		return &tools.Error{
			Kind: tools.BadInput, Path: e.path,
			Message: fmt.Sprintf("old_str is there %d times, not %d times as expected; nothing was changed", total, e.Expected),
		}
	}
	if len(changes) == 1 {
		return nil
	}
	if content == e.before.Content {
		return &tools.Error{Kind: tools.BadInput, Path: e.path, Message: "the edits together change nothing"}
	}
	e.applied = textedit.Result{Content: content, LineRange: textedit.ChangedLines(e.before.Content, content), Replacements: total, Fuzzy: fuzzy}
	return nil
}

// applyText makes one change. A text with the line numbers that read shows is
// looked for without them, when it is not there as it is.
func applyText(ctx context.Context, content string, c textChange, all bool) (textedit.Result, error) {
	applied, err := textedit.Apply(ctx, content, c.OldStr, c.NewStr, all)
	if _, missed := errors.AsType[textedit.NotFoundError](err); !missed {
		return applied, err
	}
	old, changed, numbered := withoutNumbers(c.OldStr, c.NewStr)
	if !numbered {
		return applied, err
	}
	if unnumbered, again := textedit.Apply(ctx, content, old, changed, false); again == nil {
		unnumbered.Fuzzy = true
		return unnumbered, nil
	}
	return applied, err
}

// mismatch adds to a miss what is nearest to it, so that the next try can hit.
func (e *editing) mismatch(ctx context.Context, content, old string, err error) *tools.Error {
	failure := &tools.Error{Kind: tools.BadInput, Path: e.path, Message: err.Error(), Err: err}
	if _, missed := errors.AsType[textedit.NotFoundError](err); !missed {
		return failure
	}
	failure.Hint = textedit.NearestHint(ctx, content, old)
	if failure.Hint == "" {
		failure.Hint = "Nothing like it is in the file; read it again before the next try."
	}
	return failure
}

func (e *editing) content(ctx context.Context) []kinds.Content {
	return []kinds.Content{diffOf(ctx, e.path, e.before, e.applied.Content)}
}

func (e *editing) result(ctx context.Context) *tools.Result {
	first, last := e.applied.LineRange[0], e.applied.LineRange[1]
	name := e.rt.Session().Rel(e.path)
	data := editData{
		Diff:      validText(ctx, textedit.Unified(ctx, name, e.before.Content, e.applied.Content)),
		LineRange: e.applied.LineRange,
	}
	head := fmt.Sprintf("Edited %s, lines %d-%d", e.path, first, last)
	if e.applied.Replacements > 1 {
		head += fmt.Sprintf(", %d replacements", e.applied.Replacements)
	}
	if e.applied.Fuzzy {
		head += " (matched with differing whitespace)"
	}
	result := tools.Output(data)
	result.Text = strings.TrimSuffix(head+"\n"+data.Diff, "\n")
	result.Content = e.content(ctx)
	result.Locations = []kinds.Location{{Path: e.path, Line: first}}
	result.TrackFiles = []string{e.path}
	return result
}
