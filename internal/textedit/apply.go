package textedit

import (
	"context"
	"strings"
)

// maxResult bounds the text that an edit makes, in bytes: many places and a long
// new text multiply.
const maxResult = 32 << 20

// stride is after how many steps of a loop the end of a context is looked for.
const stride = 1024

// Result is an edit carried out.
type Result struct {
	// Content is the whole new text.
	Content string
	// LineRange holds the first and last changed line, 1-based in Content. A
	// deletion names the line that took the place of what went.
	LineRange [2]int
	// Replacements is the number of places changed.
	Replacements int
	// Fuzzy says that whitespace had to be forgiven.
	Fuzzy bool
}

// Apply replaces old by new in content, everywhere with all, else in the one place
// where old stands (R36-R41). It looks for old exactly (a CRLF counts as LF), and only
// if that finds nothing, line by line with whitespace forgiven (R38): first that at
// the end of lines, then an indentation that maps one to one onto the file's. Bytes
// that the edit does not change stay as they are: within a match, what old and
// new have in common at both ends counts as unchanged. New lines take the line
// ending that prevails in what they replace, else in the file; byte order mark
// and lone CRs stay.
//
// Errors: [SameError], then [EmptyError], [NotFoundError], [MultipleError],
// [TooLargeError], and the cause of the end of ctx.
func Apply(ctx context.Context, content, old, new string, all bool) (Result, error) {
	old, new = toLF(old), toLF(new)
	if old == new && old != "" {
		return Result{}, SameError{}
	}
	if trimmed, found := strings.CutPrefix(old, bom); found {
		old, new = trimmed, strings.TrimPrefix(new, bom)
	}
	v := newView(ctx, content)
	found, err := find(ctx, v, old, all)
	if err != nil {
		return Result{}, err
	}
	var out strings.Builder
	res, done := Result{Fuzzy: found.fuzzy}, 0
	for p := range found.places {
		e := v.edit(p, old, new, found)
		out.WriteString(content[done:e.start])
		out.WriteString(e.text)
		done = e.end
		res.Replacements++
		if res.Replacements%stride == 0 && ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		if out.Len() > maxResult {
			return Result{}, TooLargeError{}
		}
	}
	out.WriteString(content[done:])
	if res.Content = out.String(); res.Content == content {
		return Result{}, SameError{}
	}
	res.LineRange = ChangedLines(content, res.Content)
	return res, nil
}

// An edit is a replacement of bytes of the content.
type edit struct {
	start, end int
	text       string
}

// edit narrows a place to what really changes and writes the new text in the
// file's ways.
func (v *view) edit(p place, old, new string, found matches) edit {
	start, end := p.start, p.end
	if found.fuzzy {
		if p.noEnd {
			new = strings.TrimSuffix(new, "\n")
			old = strings.TrimSuffix(old, "\n")
		}
		start, end, new = v.narrowLines(p, old, new)
		if found.indents != nil {
			new = found.indents(p).apply(new)
		}
	} else {
		n := commonPrefix(old, new)
		old, new, start = old[n:], new[n:], start+n
		n = commonSuffix(old, new)
		new, end = new[:len(new)-n], end-n
	}
	crlf, ok := v.crlfIn(start, end)
	if !ok {
		crlf, ok = v.crlfIn(p.start, p.end)
	}
	if !ok {
		crlf = v.prevailing()
	}
	if crlf {
		new = toCRLF(new)
	}
	return edit{v.origin(start), v.origin(end), new}
}

// narrowLines leaves out the whole lines that old and new share at both ends:
// the file keeps its own spelling of them.
func (v *view) narrowLines(p place, old, new string) (start, end int, text string) {
	start, end = p.start, p.end
	was, now := strings.SplitAfter(old, "\n"), strings.SplitAfter(new, "\n")
	for len(was) > 1 && len(now) > 1 && was[0] == now[0] {
		was, now = was[1:], now[1:]
		start += strings.IndexByte(v.text[start:], '\n') + 1
	}
	for len(was) > 1 && len(now) > 1 && was[len(was)-1] == now[len(now)-1] {
		last := was[len(was)-1]
		was, now = was[:len(was)-1], now[:len(now)-1]
		if last == "" {
			continue // after a final line feed
		}
		if strings.HasSuffix(last, "\n") {
			end--
		}
		end = strings.LastIndexByte(v.text[:end], '\n') + 1
	}
	return start, end, strings.Join(now, "")
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
