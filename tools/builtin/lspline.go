package builtin

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"acp-agent/internal/pathname"
	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// quoteLines puts the text of their lines into places in the session's own
// directories. Others are known by their path alone, and so is a file that holds
// secrets, that a rule forbids or that cannot be read.
func quoteLines(ctx context.Context, rt tools.Runtime, places []tools.CodeLocation) error {
	files := map[string]string{}
	for i, l := range places {
		if err := ctx.Err(); err != nil {
			return err
		}
		content, read := files[l.Path]
		if !read {
			content = quotable(ctx, rt, l.Path)
			files[l.Path] = content
		}
		if line, there := lineAt(ctx, content, l.Line); there && content != "" {
			places[i].Text = clip(strings.TrimSpace(strings.ToValidUTF8(clip(line, maxSymbolLine), "\ufffd")), lspLine)
		}
	}
	return nil
}

// lineAt is a line of a text by its number, from 1. After the end of ctx none is there.
func lineAt(ctx context.Context, text string, number int) (line string, there bool) {
	if number < 1 {
		return "", false
	}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if n%lspStride == 0 && ctx.Err() != nil {
			return "", false
		}
		if n == number {
			return line, true
		}
	}
	return "", false
}

// quotable is the text of a file of which lines may be shown, else "".
func quotable(ctx context.Context, rt tools.Runtime, path string) string {
	session, files := rt.Session(), rt.FS()
	resolved := session.Resolve(path)
	if pathname.Innermost(session.Roots, resolved) == "" || files.Secret(path) || files.Hidden(path) || files.Hidden(resolved) {
		return ""
	}
	text, err := textOf(ctx, rt, "read", path)
	if err != nil {
		return ""
	}
	return text.Content
}

// clip shortens a text to a number of bytes, between characters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return textcut.First(s, limit) + "…"
}

// maxSymbolLine is how much of a line is looked through for a name, in bytes.
const maxSymbolLine = 64 << 10

// symbolColumn is the column, from 1 and in characters, of a name that stands by
// itself on a line; of a qualified name, that of its last part. 0 means that it
// does not stand there.
func symbolColumn(line, symbol string) int {
	line = line[:min(len(line), maxSymbolLine)]
	symbol = strings.TrimSpace(symbol)
	if symbol == "" {
		return 0
	}
	for from := 0; ; {
		i := strings.Index(line[from:], symbol)
		if i < 0 {
			return 0
		}
		start := from + i
		end := start + len(symbol)
		before, _ := utf8.DecodeLastRuneInString(line[:start])
		after, _ := utf8.DecodeRuneInString(line[end:])
		first, _ := utf8.DecodeRuneInString(symbol)
		last, _ := utf8.DecodeLastRuneInString(symbol)
		if !(isNameRune(first) && start > 0 && isNameRune(before)) && !(isNameRune(last) && end < len(line) && isNameRune(after)) {
			qualifier := strings.LastIndexFunc(symbol, func(r rune) bool { return !isNameRune(r) })
			if qualifier >= 0 {
				_, size := utf8.DecodeRuneInString(symbol[qualifier:])
				if qualifier+size < len(symbol) {
					start += qualifier + size
				}
			}
			return utf8.RuneCountInString(line[:start]) + 1
		}
		_, size := utf8.DecodeRuneInString(line[start:])
		from = start + size
	}
}

func isNameRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
