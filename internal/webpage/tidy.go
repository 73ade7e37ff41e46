package webpage

import (
	"context"
	"strings"

	"golang.org/x/net/html"
)

// maxTags bounds the tags of a page that is made a tree of.
const maxTags = 150_000

// tidy writes a page again with only what Markdown can show: tags that matter,
// with attributes that matter, and text. It is one pass without a tree, so it
// costs what the page is long; ok is false for a page of too many tags.
//
// It is there for more than order. A parser of HTML opens formatting elements
// that were never closed again in every block that follows: a page of 20 KB can
// ask for a tree of gigabytes. Of formatting elements without attributes, only
// three of a kind are opened again, and few kinds are left here. Text is written
// escaped, and nothing is left of foreign content or raw text, so the parser
// sees no tag that was not written here.
func tidy(ctx context.Context, source string) (tidied string, ok bool) {
	var b strings.Builder
	var skip skipper
	tags, pre := 0, false // pre: "<pre" stands open for a class of the code in it
	tokens := html.NewTokenizer(ended{ctx, strings.NewReader(source)})
	for {
		kind := tokens.Next()
		var token html.Token
		if kind != html.ErrorToken {
			token = tokens.Token()
		}
		if pre {
			pre = false
			b.WriteString(openPre(token))
		}
		switch kind {
		case html.ErrorToken:
			return b.String(), ctx.Err() == nil
		case html.TextToken:
			if !skip.inside() {
				b.WriteString(html.EscapeString(token.Data))
			}
		case html.DoctypeToken:
			b.WriteString("<!DOCTYPE html>")
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			token.Data = plainer(token.Data)
			if skip.tag(kind, token.Data) || token.Data == "" {
				continue
			}
			if tags++; tags > maxTags {
				return "", false
			}
			if pre = kind == html.StartTagToken && token.Data == "pre"; pre {
				continue
			}
			token.Attr = useful(token.Data, token.Attr)
			b.WriteString(token.String())
		}
	}
}

// openPre opens a block of code. The class of a code element that comes next, in
// which the language stands, moves to the block: code itself is a formatting
// element and stays without attributes.
func openPre(next html.Token) string {
	block := html.Token{Type: html.StartTagToken, Data: "pre"}
	if next.Type == html.StartTagToken && next.Data == "code" {
		block.Attr = useful("pre", next.Attr)
	}
	return block.String()
}

// plainer is the name under which an element is kept, "" when only what is in it
// is.
func plainer(name string) string {
	switch name {
	case "b":
		return "strong"
	case "i":
		return "em"
	case "font", "big", "small", "nobr", "tt", "u", "s", "strike", "frameset", "frame", "plaintext", "xmp", "textarea":
		return ""
	}
	return name
}

// useful leaves the attributes that are shown or say how to show.
func useful(name string, all []html.Attribute) []html.Attribute {
	const long, short = 1000, 100
	kept := all[:0]
	for _, a := range all {
		most := 0
		switch name + " " + a.Key {
		case "a href", "img src", "base href":
			most = maxLink
		case "a title", "img title", "img alt":
			most = long
		case "td colspan", "td rowspan", "th colspan", "th rowspan", "td align", "th align", "ol start", "pre class", "table role":
			most = short
		}
		if len(a.Val) <= most {
			kept = append(kept, a)
		}
	}
	return kept
}

// skipper passes over elements of which nothing is read.
type skipper struct {
	name  string
	depth int
}

func (s *skipper) inside() bool { return s.depth > 0 }

// tag takes note of a tag and reports whether it is part of what is passed over.
func (s *skipper) tag(kind html.TokenType, name string) bool {
	switch {
	case s.depth == 0 && !dropped(name):
		return false
	case s.depth == 0 && kind == html.StartTagToken:
		s.name, s.depth = name, 1
	case s.depth > 0 && name == s.name && kind == html.StartTagToken:
		s.depth++
	case s.depth > 0 && name == s.name && kind == html.EndTagToken:
		s.depth--
	}
	return true
}

// dropped reports elements of which nothing is read.
func dropped(name string) bool {
	switch name {
	case "script", "style", "noscript", "iframe", "svg", "math", "template", "object", "embed", "canvas", "audio", "video", "noembed", "noframes":
		return true
	}
	return false
}
