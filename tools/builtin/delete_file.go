package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed delete_file.md
var deleteFilePrompt string

type deleteFileArgs struct {
	Path string `json:"path"`
}

// newDeleteFile is the tool that deletes a file (R96).
func newDeleteFile() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "delete_file",
		Description: prompt(deleteFilePrompt),
		Kind:        kinds.Delete,
		Label:       "Delete file",
		Describe:    pathTitle[deleteFileArgs]("Delete"),
		Default:     capability.AllowDeletes,
		Parameters:  object(text("path", "Absolute path of the file.")),
		Requires:    capability.RequirementSet{FS: capability.FS{Write: []string{workspaceScope, adHocScope}}},
		Aliases:     []tools.Alias{{Name: "Delete"}, {Name: "delete"}},
		Renames:     map[string]string{"file_path": "path"},
		Accepts:     pathAccepts("remove_file", "delete_files", "rm"),
		Preprocess:  absolutePath,
		Resources:   deletedName,
		Profile:     fileProfile[deleteFileArgs](),
		Preview:     tools.Previewing("delete_file", previewDeleteFile),
	}, deleteFile)
}

// deletedName is what is judged: of a link the link, for what it leads to stays.
func deletedName(args tools.Args, env tools.Env) []tools.Resource {
	return []tools.Resource{{Kind: tools.PathWrite, Value: env.Abs(tools.ArgsAs[deleteFileArgs](args).Path), NoFollow: true}}
}

func deleteFile(ctx context.Context, rt tools.Runtime, a deleteFileArgs) (*tools.Result, error) {
	if a.Path == "" {
		return nil, noPath("delete_file")
	}
	path := rt.Session().Abs(a.Path)
	unlock, err := rt.FS().Lock(ctx, path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, content, err := deletion(ctx, rt, path)
	if err != nil {
		return nil, err
	}
	if err := rt.FS().Remove(ctx, path, before); err != nil {
		return nil, fileFailure("delete_file", path, err)
	}
	result := tools.Output("Deleted file " + path)
	result.Content = content
	result.Locations = []kinds.Location{{Path: path}}
	result.TrackFiles = []string{path}
	return result, nil
}

func previewDeleteFile(ctx context.Context, rt tools.Runtime, a deleteFileArgs) ([]kinds.Content, error) {
	if a.Path == "" {
		return nil, noPath("delete_file")
	}
	_, content, err := deletion(ctx, rt, rt.Session().Abs(a.Path))
	return content, err
}

// deletion looks at what is about to be deleted. before is nil when that is no
// text. Of a link it tells where it leads, and nothing of what is there.
func deletion(ctx context.Context, rt tools.Runtime, path string) (before *tools.Text, content []kinds.Content, err error) {
	if rt.FS().Secret(path) {
		return nil, nil, secretKept(path)
	}
	target, err := rt.FS().Readlink(ctx, path)
	switch {
	case err != nil:
		return nil, nil, fileFailure("delete_file", path, err)
	case target != "":
		return nil, []kinds.Content{kinds.Text{Text: "Removes the link to " + inCard(target) + "."}}, nil
	}
	info, err := rt.FS().Stat(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, tools.Missing(path)
	case err != nil:
		return nil, nil, fileFailure("delete_file", path, err)
	case info.IsDir:
		return nil, nil, &tools.Error{
			Kind: tools.BadInput, Path: path, Message: fmt.Sprintf("delete_file: %s is a directory", path),
			Hint: "delete the files in it one by one, or ask for a command that removes it",
		}
	}
	text, err := rt.FS().ReadText(ctx, path)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case unknown(err):
		return nil, nil, fileFailure("delete_file", path, err)
	case err != nil || !text.Exists: // too large or no text
		return nil, []kinds.Content{kinds.Text{Text: "Deletes " + inCard(path) + ", whose content cannot be shown."}}, nil
	}
	return &text, []kinds.Content{diffOf(ctx, path, text, "")}, nil
}
