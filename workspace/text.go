package workspace

import (
	"context"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"acp-agent/tools"
)

// reading is a text file as the disk and, perhaps, the editor have it.
type reading struct {
	path string // as asked, absolute
	real string
	// editor is the path the editor knows, "" when the file is not its own.
	editor string
	exists bool
	// linked says that the file has other names (P7).
	linked bool
	disk   string
	// side says whose text counts; content is that text.
	side    side
	content string
	// asked says that the editor was asked, gave that it gave its text.
	asked, gave bool
}

// ReadText returns a whole text file as the person sees it. A file that is not
// there is no error: Exists is false.
func (f files) ReadText(ctx context.Context, path string) (tools.Text, error) {
	r, err := f.read(ctx, path)
	if err != nil {
		return tools.Text{}, err
	}
	return tools.Text{Content: r.content, Exists: r.exists, FromEditor: r.gave && r.side != disk}, nil
}

// ReadLines returns a range of lines of a file that the editor was asked about.
// ok does not say whose text it is: the disk's too counts only until the person
// types.
func (f files) ReadLines(ctx context.Context, path string, from, to int) (text string, ok bool, err error) {
	if !f.w.editor.reads() {
		return "", false, nil
	}
	r, err := f.read(ctx, path)
	switch {
	case err != nil && local(err) && (r == nil || !r.asked):
		return "", false, nil
	case err != nil:
		return "", false, err
	case !r.asked:
		return "", false, nil
	}
	return lines(r.content, from, to), true, nil
}

// local reports whether a file is merely not text of the editor's: too large,
// binary, a directory. Open has more to say of those.
func local(err error) bool {
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

// read reads the disk first: it says whether the file exists and is text at
// all, and only then the editor is asked for its view (R155).
func (f files) read(ctx context.Context, path string) (*reading, error) {
	if abs := f.w.abs(path); f.w.o.Protection.Secret(abs) {
		return nil, tools.SecretRefused(abs)
	}
	var r *reading
	err := f.at(ctx, "read", path, false, func(p *place) (err error) {
		if f.w.secret(p.trail) {
			return tools.SecretRefused(p.asked)
		}
		r, err = f.w.readDisk(p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, f.readEditor(ctx, r)
}

// readDisk reads what stands at a place as text.
func (w *Workspace) readDisk(p *place) (*reading, error) {
	r := &reading{path: p.asked, real: p.real(), exists: p.exists()}
	if p.root.editor {
		r.editor = p.root.spelled(p.rel)
	}
	if !r.exists {
		return r, nil
	}
	file, err := p.openFile()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		r.linked = linked(info)
	}
	r.disk, err = readAll(p.asked, file, w.o.Limits.FileBytes)
	r.content = r.disk
	return r, err
}

// readEditor asks the editor for its text of a file that is its own and exists
// on disk: an empty answer is not taken for an empty file. What it read while the
// path led elsewhere is not used.
func (c *Call) readEditor(ctx context.Context, r *reading) error {
	w := c.w
	if !r.exists || r.editor == "" || !w.editor.reads() {
		return nil
	}
	r.asked = true
	text, ok, err := w.editor.read(ctx, r.editor)
	if err != nil || !ok {
		return err
	}
	if _, lands := c.landing(r.editor, r.real, false); !lands {
		return failure("read", r.path, errMoved)
	}
	if int64(len(text)) > w.o.Limits.FileBytes {
		return tools.Oversize(r.path, int64(len(text)), w.o.Limits.FileBytes)
	}
	r.gave = true
	r.side = w.editor.judge(r.real, text, r.disk)
	if r.side == buffer {
		r.content = asOnDisk(text, r.disk)
	}
	return nil
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
