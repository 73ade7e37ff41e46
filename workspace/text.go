package workspace

import (
	"context"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"acp-agent/tools"
)

// ReadText returns a whole text file as the user sees it. A file that is not
// there is no error: Exists is false.
func (f files) ReadText(ctx context.Context, path string) (tools.Text, error) {
	r, err := f.view.read(ctx, path)
	if err != nil {
		return tools.Text{}, err
	}
	return tools.Text{Content: r.content, Exists: r.exists, FromEditor: r.gave && r.side != diskSide}, nil
}

// ReadLines returns a range of lines of a file that the editor was asked about.
// ok does not say whose text it is: the disk's too counts only until the user
// types.
func (f files) ReadLines(ctx context.Context, path string, from, to int) (text string, ok bool, err error) {
	if !f.w.editor.reads() {
		return "", false, nil
	}
	r, err := f.view.read(ctx, path)
	switch {
	case err != nil && notEditorText(err) && (r == nil || !r.asked):
		return "", false, nil
	case err != nil:
		return "", false, err
	case !r.asked:
		return "", false, nil
	}
	return lines(r.content, from, to), true, nil
}

// notEditorText reports whether an error says only that a file is not a text that an editor holds:
// it is too large, binary, or a directory.
func notEditorText(err error) bool {
	e, ok := err.(*tools.Error)
	return ok && e.Kind == tools.BadInput
}

func lines(text string, from, to int) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > to {
			break
		}
		if n >= from {
			b.WriteString(line)
		}
	}
	return b.String()
}

// textFile is what readAll needs of a file.
type textFile interface {
	io.Reader
	Stat() (fs.FileInfo, error)
}

// readAll reads a file that must be text and within the limit, whatever size
// the system claims it has.
func readAll(path string, f textFile, limit int64) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > limit {
		return "", tools.Oversize(path, info.Size(), limit)
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	n, err := io.Copy(&b, io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if n > limit {
		return "", tools.Oversize(path, n, limit)
	}
	if !isText(b.String()) {
		return "", tools.BinaryRefused(path)
	}
	return b.String(), nil
}

// sniffed is how much of a file is looked at for NUL bytes, as git does.
const sniffed = 8000

// isText reports whether bytes can be moved as text: valid UTF-8, and no NUL
// near the start, which UTF-16 without a mark would have.
func isText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s[:min(len(s), sniffed)], 0) < 0
}
