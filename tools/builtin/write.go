package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed write.md
var writePrompt string

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// discovery is the data of a write into a directory with guidance that the
// session has not loaded (R34).
type discovery struct {
	Message                 string   `json:"message"`
	DiscoveredGuidanceFiles []string `json:"discoveredGuidanceFiles"`
}

// newWrite is the tool that creates and overwrites files (R32-R35). A text over
// Limits.FileBytes is refused.
func newWrite() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "write",
		Description: prompt(writePrompt),
		Kind:        kinds.Edit,
		Label:       "Write file",
		Describe:    pathTitle[writeArgs]("Write"),
		Default:     capability.AllowChanges,
		Parameters: object(
			text("path", "Absolute path of the file."),
			text("content", "The whole content."),
		),
		Requires:   capability.RequirementSet{FS: capability.FS{Write: []string{workspaceScope, adHocScope}}},
		Aliases:    []tools.Alias{{Name: "Write"}, {Name: "write_file"}, {Name: "create_file"}},
		Renames:    map[string]string{"file_path": "path"},
		Accepts:    writeAccepts(),
		Preprocess: absolutePath,
		Resources:  touches[writeArgs](tools.PathWrite),
		Profile:    fileProfile[writeArgs](),
		Preview:    tools.Previewing("write", previewWrite),
	}, write)
}

func write(ctx context.Context, rt tools.Runtime, a writeArgs) (*tools.Result, error) {
	w, err := newWriting(rt, a)
	if err != nil {
		return nil, err
	}
	unlock, err := rt.FS().Lock(ctx, w.path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	content, exists, err := w.change(ctx)
	if err != nil {
		return nil, err
	}
	// Whole-file, last writer wins (R35): what stood there before is shown, not
	// a condition.
	if err := rt.FS().WriteText(ctx, w.path, w.content, nil); err != nil {
		return nil, fileFailure("write", w.path, err)
	}
	return w.result(ctx, content, exists), nil
}

func previewWrite(ctx context.Context, rt tools.Runtime, a writeArgs) ([]kinds.Content, error) {
	w, err := newWriting(rt, a)
	if err != nil {
		return nil, err
	}
	content, _, err := w.change(ctx)
	return content, err
}

// writing is one call with the text that will be in the file.
type writing struct {
	rt            tools.Runtime
	path, content string
}

func newWriting(rt tools.Runtime, a writeArgs) (writing, error) {
	if a.Path == "" {
		return writing{}, noPath("write")
	}
	w := writing{rt: rt, path: rt.Session().Abs(a.Path), content: a.Content}
	if w.content != "" && !strings.HasSuffix(w.content, "\n") {
		w.content += "\n"
	}
	if limit := rt.Session().Limits.FileBytes; limit > 0 && int64(len(w.content)) > limit {
		return writing{}, tools.Oversize(w.path, int64(len(w.content)), limit)
	}
	return w, nil
}

// change looks at what is there now and makes the card of it.
func (w writing) change(ctx context.Context) (content []kinds.Content, exists bool, err error) {
	info, err := w.rt.FS().Stat(ctx, w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, false, fileFailure("write", w.path, err)
	case info.IsDir:
		return nil, false, tools.Errorf(tools.BadInput, "write: %s is a directory", w.path)
	default:
		exists = true
	}
	if w.rt.FS().Secret(w.path) {
		if exists {
			return nil, true, secretKept(w.path)
		}
		return secretContent(), false, nil
	}
	before, err := w.rt.FS().ReadText(ctx, w.path)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case unknown(err):
		return nil, false, fileFailure("write", w.path, err)
	case err != nil: // too large or no text: replaced all the same, but there is no diff to show
		return []kinds.Content{kinds.Text{Text: fmt.Sprintf("Replaces %s, whose present content cannot be shown.", inCard(w.path))}}, exists, nil
	}
	return []kinds.Content{diffOf(ctx, w.path, before, w.content)}, exists, nil
}

func (w writing) result(ctx context.Context, content []kinds.Content, existed bool) *tools.Result {
	verb := "created"
	if existed {
		verb = "overwrote"
	}
	message := fmt.Sprintf("Successfully %s file %s", verb, w.path)
	result := tools.Output(message)
	result.Content = content
	result.Locations = []kinds.Location{{Path: w.path}}
	result.TrackFiles = []string{w.path}
	if found := discover(ctx, w.rt, w.path); len(found) > 0 {
		result.Data = discovery{Message: message, DiscoveredGuidanceFiles: found}
		result.Text = message + "\nGuidance files that apply there and are not loaded yet, nearest first:\n" + strings.Join(found, "\n")
	}
	return result
}
