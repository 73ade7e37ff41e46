package builtin

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// The limits of read. The bound of what one call returns is
// Limits.ReadBytes.
const (
	defaultLines  = 500
	maxLines      = 2000
	maxLineBytes  = 4096
	maxEntries    = 2000
	maxImageBytes = 5 << 20
)

//go:embed read.md
var readPrompt string

type readArgs struct {
	Path      string    `json:"path"`
	ReadRange []float64 `json:"read_range"`
	ByteRange []float64 `json:"byte_range"`
}

// imageData is the data of a result that is an image (R28).
type imageData struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// newRead is the tool that shows files, directories and images (R23-R31).
func newRead() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "read",
		Description: prompt(readPrompt),
		Kind:        kinds.Read,
		Label:       "Read file",
		Describe:    pathTitle[readArgs]("Read"),
		Default:     capability.AllowAlways,
		Parameters: object(
			text("path", "Absolute path of the file or directory."),
			pair("read_range?", "Lines [start, end], 1-indexed, inclusive. Default [1, 500]."),
			pair("byte_range?", "Instead of lines, bytes [start, end), from 0, raw."),
		),
		Requires:   capability.RequirementSet{FS: capability.FS{Read: []string{workspaceScope, adHocScope}}},
		Aliases:    []tools.Alias{{Name: "Read"}, {Name: "read_file"}, {Name: "list_directory"}},
		Renames:    map[string]string{"file_path": "path"},
		Accepts:    readAccepts(),
		Preprocess: absolutePath,
		Resources:  touches[readArgs](tools.PathRead),
		Profile:    treeProfile[readArgs](),
		ReadOnly:   true,
		Cacheable:  true,
		OwnLimit:   true,
		Rest:       "read_range or byte_range shows it",
	}, read)
}

// firstLine is the line that the range begins at, or 0.
func (a readArgs) firstLine() int {
	if len(a.ReadRange) == 0 || a.ReadRange[0] < 1 {
		return 0
	}
	return int(a.ReadRange[0])
}

func read(ctx context.Context, rt tools.Runtime, a readArgs) (*tools.Result, error) {
	if a.Path == "" {
		return nil, noPath("read")
	}
	lines, err := lineRange(a.ReadRange)
	if err != nil {
		return nil, err
	}
	span, err := byteRange(a.ByteRange)
	if err != nil {
		return nil, err
	}
	if a.ReadRange != nil && a.ByteRange != nil {
		return nil, tools.Errorf(tools.BadInput, "read: give read_range or byte_range, not both")
	}
	path := rt.Session().Abs(a.Path)
	// Before anything else, so that the answer does not tell whether the file exists.
	if rt.FS().Secret(path) {
		return nil, tools.SecretRefused(path)
	}
	r := reading{rt: rt, path: path, limits: rt.Session().Limits}
	r.info, err = rt.FS().Stat(ctx, path)
	switch {
	case err != nil:
		return nil, fileFailure("read", path, err)
	case r.info.IsDir && span != nil:
		return nil, tools.Errorf(tools.BadInput, "read: %s is a directory, it has no byte_range", path)
	case r.info.IsDir:
		return r.directory(ctx, lines, a.ReadRange != nil)
	case span != nil:
		return r.bytes(ctx, *span)
	}
	return r.file(ctx, lines)
}

// reading is one call on its way to a result.
type reading struct {
	rt     tools.Runtime
	path   string
	limits tools.Limits
	info   tools.FileInfo
}

// file shows lines of a text, as the editor has them when it has the file.
func (r *reading) file(ctx context.Context, lines [2]int) (*tools.Result, error) {
	w := &window{from: lines[0], to: lines[1], maxBytes: r.limits.ReadBytes}
	buffer, open, err := r.rt.FS().ReadLines(ctx, r.path, w.from, w.to+1)
	if err != nil {
		return nil, fileFailure("read", r.path, err)
	}
	if open {
		err = w.scan(ctx, strings.NewReader(buffer), w.from)
		return r.lines(w, err)
	}
	file, err := r.rt.FS().Open(ctx, r.path)
	if err != nil {
		return nil, fileFailure("read", r.path, err)
	}
	defer file.Close()
	head := make([]byte, sniffBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fileFailure("read", r.path, err)
	}
	if media := imageType(head[:n]); media != "" {
		return r.image(file, media)
	}
	if isBinary(head[:n]) {
		return nil, tools.BinaryRefused(r.path)
	}
	err = w.scan(ctx, file, 1)
	result, err := r.lines(w, err)
	if err == nil {
		result.Depends = []string{r.path} // no editor has a part in it, so it may be kept (R130)
	}
	return result, err
}

func (r *reading) lines(w *window, err error) (*tools.Result, error) {
	switch {
	case errors.Is(err, errTooLarge):
		return nil, tooLarge(r.path, r.limits.ReadBytes)
	case err != nil:
		return nil, fileFailure("read", r.path, err)
	}
	line := 0
	if w.from > 1 {
		line = w.from
	}
	return r.shown(w.text.String(), w.note(), line), nil
}

// shown is a result of text, with a note that only the model reads.
func (r *reading) shown(text, note string, line int) *tools.Result {
	result := tools.Output(text)
	result.Locations = []kinds.Location{{Path: r.path, Line: line}}
	result.Text = strings.TrimPrefix(text+"\n\n"+note, "\n\n")
	if note == "" {
		result.Text = text
		return result
	}
	result.Content = notedCard(text, strings.Split(note, "\n")...)
	return result
}

// image shows a picture to the model and the user (R28).
func (r *reading) image(file tools.File, media string) (*tools.Result, error) {
	if r.info.Size > maxImageBytes {
		return nil, &tools.Error{
			Kind: tools.BadInput, Path: r.path,
			Message: fmt.Sprintf("image %s is too large to show (%d bytes, at most %d)", r.path, r.info.Size, maxImageBytes),
			Hint:    "Make a smaller copy of it and read that.",
		}
	}
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, maxImageBytes))
	if err != nil {
		return nil, fileFailure("read", r.path, err)
	}
	data := base64.StdEncoding.EncodeToString(raw)
	result := tools.Output(imageData{Type: "image", MediaType: media, Data: data})
	result.Text = fmt.Sprintf("[%s image, %d bytes]", media, len(raw))
	result.Images = []transcript.ImagePart{{MediaType: media, Data: data}}
	result.Content = []kinds.Content{kinds.Image{MediaType: media, Data: data}}
	result.Locations = []kinds.Location{{Path: r.path}}
	return result, nil
}

// directory lists entries; a range chooses among them as among lines (R27).
func (r *reading) directory(ctx context.Context, lines [2]int, asked bool) (*tools.Result, error) {
	if !asked {
		lines = [2]int{1, maxEntries}
	}
	entries, more, err := r.rt.FS().List(ctx, r.path, lines[1])
	if err != nil {
		return nil, fileFailure("read", r.path, err)
	}
	var list strings.Builder
	next := min(lines[0]-1, len(entries))
	for _, entry := range entries[next:] {
		name := entry.Name
		if entry.IsDir {
			name += "/"
		}
		if list.Len()+1+len(name) > r.limits.ReadBytes {
			more = true
			break
		}
		if list.Len() > 0 {
			list.WriteByte('\n')
		}
		list.WriteString(strings.ToValidUTF8(name, "\ufffd"))
		next++
	}
	note := ""
	switch {
	case more:
		note = fmt.Sprintf("[more entries follow; continue with read_range [%d, %d]]", next+1, next+maxLines)
	case len(entries) == 0:
		note = "[the directory is empty]"
	case list.Len() == 0:
		note = fmt.Sprintf("[the directory has %d entries, none in the range asked for]", len(entries))
	}
	result := r.shown(list.String(), note, 0)
	if more && !asked {
		result.Data = map[string]string{"head": list.String()}
		result.Truncated = true
	}
	return result, nil
}
