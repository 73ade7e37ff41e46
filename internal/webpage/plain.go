package webpage

import (
	"context"
	"strings"

	"golang.org/x/net/html"
)

// plain is the text of a page without its structure, in one pass and without a
// tree.
func plain(ctx context.Context, source string) (Page, error) {
	var title, text strings.Builder
	var skip skipper
	inTitle := false
	tokens := html.NewTokenizer(ended{ctx, strings.NewReader(source)})
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			if ctx.Err() != nil {
				return Page{}, context.Cause(ctx)
			}
			return Page{Title: oneLine(title.String()), Text: squeeze(clean(text.String()))}, nil
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			raw, _ := tokens.TagName()
			name := string(raw)
			if skip.tag(kind, name) {
				continue
			}
			inTitle = name == "title" && kind == html.StartTagToken && title.Len() == 0
			if !inline(name) {
				text.WriteByte('\n')
			}
		case html.TextToken:
			switch {
			case skip.inside():
			case inTitle:
				title.Write(tokens.Text())
			default:
				text.Write(tokens.Text())
			}
		}
	}
}

// squeeze leaves at most one blank line between lines, and no blanks around them.
func squeeze(text string) string {
	var b strings.Builder
	blank := true // none at the start
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" && blank {
			continue
		}
		blank = line == ""
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// inline reports elements within a line.
func inline(name string) bool {
	switch name {
	case "a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "label", "mark",
		"q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr":
		return true
	}
	return false
}
