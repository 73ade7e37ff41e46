package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed view_image.md
var viewImagePrompt string

type viewImageArgs struct {
	Path string `json:"path"`
}

// newViewImage is the tool that shows an image file. It is the image part
// of read under a name of its own, with the same limit (R28).
func newViewImage() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "view_image",
		Description: prompt(viewImagePrompt),
		Kind:        kinds.Read,
		Label:       "View image",
		Describe:    pathTitle[viewImageArgs]("View"),
		Default:     capability.AllowAlways,
		Parameters:  object(text("path", "Absolute path of the image.")),
		Requires:    capability.RequirementSet{FS: capability.FS{Read: []string{workspaceScope, adHocScope}}},
		Aliases:     []tools.Alias{{Name: "ViewImage"}},
		Renames:     map[string]string{"file_path": "path"},
		Accepts:     pathAccepts("read_image", "look_at_image"),
		Preprocess:  absolutePath,
		Resources:   touches[viewImageArgs](tools.PathRead),
		Profile:     treeProfile[viewImageArgs](),
		ReadOnly:    true,
		OwnLimit:    true,
	}, viewImage)
}

func viewImage(ctx context.Context, rt tools.Runtime, a viewImageArgs) (*tools.Result, error) {
	if a.Path == "" {
		return nil, noPath("view_image")
	}
	path := rt.Session().Abs(a.Path)
	if rt.FS().Secret(path) {
		return nil, tools.SecretRefused(path)
	}
	r := reading{rt: rt, path: path, limits: rt.Session().Limits}
	var err error
	if r.info, err = rt.FS().Stat(ctx, path); err != nil {
		return nil, fileFailure("view", path, err)
	}
	if r.info.IsDir {
		return nil, noImage(path, "a directory")
	}
	file, err := rt.FS().Open(ctx, path)
	if err != nil {
		return nil, fileFailure("view", path, err)
	}
	defer file.Close()
	head := make([]byte, sniffBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fileFailure("view", path, err)
	}
	media := imageType(head[:n])
	if media == "" {
		return nil, noImage(path, sortOf(head[:n]))
	}
	return r.image(file, media)
}

// noImage is the error of a file that cannot be looked at.
func noImage(path, sort string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Message: fmt.Sprintf("view_image: %s is %s, not a PNG, JPEG or GIF image", path, sort),
		Hint: "Text and directories are shown by read; convert other images first.",
	}
}

// sortOf says in a few words what a file is that is not an image which can be shown.
func sortOf(head []byte) string {
	switch {
	case len(head) == 0:
		return "an empty file"
	case bytes.HasPrefix(head, []byte("RIFF")) && len(head) > 12 && string(head[8:12]) == "WEBP":
		return "a WebP image"
	case bytes.HasPrefix(head, []byte("BM")) && isBinary(head):
		return "a BMP image"
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		return "a TIFF image"
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return "a PDF document"
	case isBinary(head):
		return "a binary file"
	case bytes.Contains(head, []byte("<svg")):
		return "an SVG image, which is text"
	}
	return "a text file"
}
