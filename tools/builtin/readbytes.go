package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// bytes shows a run of bytes without line numbers, for lines too long to show.
func (r *reading) bytes(ctx context.Context, span [2]int64) (*tools.Result, error) {
	if r.rt.FS().HoldsAddress(r.path) || r.rt.FS().HoldsAddress(r.info.Real) {
		return nil, &tools.Error{
			Kind: tools.BadInput, Path: r.path,
			Message: "read: " + r.path + " holds a user and password in the address of a remote, which single bytes would show",
			Hint:    "Read it by lines, with read_range.",
		}
	}
	file, size, err := r.source(ctx)
	if err != nil {
		return nil, fileFailure("read", r.path, err)
	}
	defer file.Close()
	start, end := min(span[0], size), min(span[1], size)
	if end-start > int64(r.limits.ReadBytes) {
		return nil, tooLarge(r.path, r.limits.ReadBytes)
	}
	raw := make([]byte, end-start)
	n, err := io.ReadFull(io.NewSectionReader(file, start, end-start), raw)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fileFailure("read", r.path, err)
	}
	raw = raw[:n]
	if isBinary(raw[:min(n, sniffBytes)]) {
		return nil, tools.BinaryRefused(r.path)
	}
	lead, tail := splitEdges(raw, start > 0, end < size)
	shown := raw[lead : len(raw)-tail]
	note := fmt.Sprintf("[bytes %d to %d of %d]", start+int64(lead), end-int64(tail), size)
	return r.shown(strings.ToValidUTF8(string(shown), "\ufffd"), note, 0), nil
}

// byteSource is where byte ranges are taken from.
type byteSource interface {
	io.ReaderAt
	io.Closer
}

// source is the text in the editor when it has the file, else the file.
func (r *reading) source(ctx context.Context) (byteSource, int64, error) {
	_, open, err := r.rt.FS().ReadLines(ctx, r.path, 1, 1)
	if err != nil {
		return nil, 0, err
	}
	if open {
		text, err := r.rt.FS().ReadText(ctx, r.path)
		return textSource{strings.NewReader(text.Content)}, int64(len(text.Content)), err
	}
	file, err := r.rt.FS().Open(ctx, r.path)
	return file, r.info.Size, err
}

type textSource struct{ io.ReaderAt }

func (textSource) Close() error { return nil }

// splitEdges counts the bytes at both ends of raw that belong to a character
// which the range cuts in two. Nothing is dropped where that would leave
// nothing, or where the bytes are no part of a character.
func splitEdges(raw []byte, front, back bool) (lead, tail int) {
	if front {
		for lead < min(3, len(raw)-1) && raw[lead]&0xc0 == 0x80 {
			lead++
		}
	}
	if back {
		tail = len(raw) - len(textcut.Whole(raw))
	}
	if lead+tail >= len(raw) {
		return 0, 0
	}
	return lead, tail
}
