package mount

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// runtime is the call's runtime with max_size in force.
func (l limits) runtime(rt tools.Runtime) tools.Runtime {
	if l.MaxSize <= 0 {
		return rt
	}
	return &boundedRuntime{Runtime: rt, max: l.MaxSize}
}

type boundedRuntime struct {
	tools.Runtime
	max int64
}

// Session implements [tools.Runtime]: no limit is above max_size.
func (r *boundedRuntime) Session() tools.Session {
	session := r.Runtime.Session()
	session.Limits.FileBytes = min(session.Limits.FileBytes, r.max)
	for _, limit := range []*int{
		&session.Limits.ReadBytes, &session.Limits.ResultBytes, &session.Limits.BashBytes, &session.Limits.FetchBytes,
	} {
		*limit = int(min(int64(*limit), r.max))
	}
	return session
}

// FS implements [tools.Runtime].
func (r *boundedRuntime) FS() tools.FS { return &boundedFS{FS: r.Runtime.FS(), max: r.max} }

// boundedFS opens and writes no file above max bytes.
type boundedFS struct {
	tools.FS
	max int64
}

func (f *boundedFS) check(ctx context.Context, path string) error {
	info, err := f.Stat(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // the operation says so in its own words
	case err != nil:
		return err
	case !info.IsDir && info.Size > f.max:
		return tooLarge(path, info.Size, f.max)
	}
	return nil
}

func tooLarge(path string, size, limit int64) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path,
		Message: fmt.Sprintf("File %s exceeds size limit (%d > %d)", path, size, limit),
		Detail:  "the limit is max_size in the tool's mount plan",
	}
}

// Open implements [tools.FS].
func (f *boundedFS) Open(ctx context.Context, path string) (tools.File, error) {
	if err := f.check(ctx, path); err != nil {
		return nil, err
	}
	return f.FS.Open(ctx, path)
}

// ReadLines implements [tools.FS].
func (f *boundedFS) ReadLines(ctx context.Context, path string, from, to int) (text string, ok bool, err error) {
	if err := f.check(ctx, path); err != nil {
		return "", false, err
	}
	return f.FS.ReadLines(ctx, path, from, to)
}

// ReadText implements [tools.FS].
func (f *boundedFS) ReadText(ctx context.Context, path string) (tools.Text, error) {
	if err := f.check(ctx, path); err != nil {
		return tools.Text{}, err
	}
	text, err := f.FS.ReadText(ctx, path)
	if size := int64(len(text.Content)); err == nil && size > f.max {
		return tools.Text{}, tooLarge(path, size, f.max)
	}
	return text, err
}

// WriteText implements [tools.FS].
func (f *boundedFS) WriteText(ctx context.Context, path, text string, before *tools.Text) error {
	if size := int64(len(text)); size > f.max {
		return tooLarge(path, size, f.max)
	}
	return f.FS.WriteText(ctx, path, text, before)
}

// Apply implements [tools.FS].
func (f *boundedFS) Apply(ctx context.Context, changes []tools.FileChange) error {
	for _, c := range changes {
		if c.Text == nil {
			continue
		}
		if size := int64(len(*c.Text)); size > f.max {
			return tooLarge(c.Path, size, f.max)
		}
	}
	return f.FS.Apply(ctx, changes)
}

// cut bounds a result that is larger than max_size; the whole goes to a sidecar.
func (l limits) cut(rt tools.Runtime, result *tools.Result) {
	if l.MaxSize <= 0 || result.Truncated {
		return
	}
	text := result.ModelText()
	if int64(len(text)) <= l.MaxSize {
		return
	}
	head := textcut.First(text, int(l.MaxSize))
	note := fmt.Sprintf("\n\n[Result truncated: %d bytes exceed max_size %d]", len(text), l.MaxSize)
	if path, err := tools.SaveSidecar(rt, text); err != nil {
		note += "\nThe rest could not be kept: " + err.Error()
	} else {
		result.OutputPath = path
		note += "\nThe whole result is in " + path
	}
	result.Truncated, result.Data, result.Text = true, map[string]string{"head": head}, head+note
}
