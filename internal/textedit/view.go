package textedit

import (
	"context"
	"sort"
	"strings"
	"sync"
)

const bom = "\ufeff"

// A view is a content as models write it: lines end in LF, no byte order mark.
// Offsets lead back to the original bytes.
type view struct {
	content string
	text    string
	skip    int   // length of the byte order mark
	crlf    []int // offsets in text of the line feeds that follow a CR

	// prevailing reports whether most line feeds follow a CR; many places ask.
	prevailing func() bool
}

// newView is worth nothing after the end of ctx.
func newView(ctx context.Context, content string) *view {
	v := &view{content: content}
	v.prevailing = sync.OnceValue(func() bool {
		crlf, _ := v.crlfIn(0, len(v.text))
		return crlf
	})
	body, found := strings.CutPrefix(content, bom)
	if found {
		v.skip = len(bom)
	}
	if v.text = toLF(body); len(v.text) == len(body) {
		return v
	}
	for i := 0; i < len(body); i++ {
		if i%longStride == 0 && ctx.Err() != nil {
			break
		}
		if body[i] == '\n' && i > 0 && body[i-1] == '\r' {
			v.crlf = append(v.crlf, i-1-len(v.crlf))
		}
	}
	return v
}

// origin is the offset in the content of an offset in the text. The CR of a
// line end belongs to its line feed.
func (v *view) origin(at int) int {
	return v.skip + at + sort.SearchInts(v.crlf, at)
}

// crlfIn reports which line ending prevails in part of the text; ok is false
// where there is none.
func (v *view) crlfIn(start, end int) (crlf, ok bool) {
	with := sort.SearchInts(v.crlf, end) - sort.SearchInts(v.crlf, start)
	all := strings.Count(v.text[start:end], "\n")
	return 2*with > all, all > 0
}

// toLF turns CRLF into LF; a lone CR is left alone.
func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func toCRLF(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
