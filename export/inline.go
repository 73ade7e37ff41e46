package export

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline writes a paragraph's text with its emphasis, code and links.
func (p *page) inline(text string) { (&inliner{p: p, missing: map[string]bool{}}).write(text, 0) }

// maxEmphasis bounds how deep emphasis is nested.
const maxEmphasis = 4

// inliner writes one paragraph.
type inliner struct {
	p *page
	// missing are marks that have no end in the rest of the paragraph, so that it is searched
	// for each once.
	missing map[string]bool
	inLink  bool
}

// write reads the text once: what begins at each sign is found, or the sign is text.
func (w *inliner) write(text string, depth int) {
	from := 0
	for i := 0; i < len(text); {
		n := 0
		if strings.IndexByte("\\`*_~[!<h", text[i]) >= 0 {
			plain := text[from:i]
			n = w.at(text, i, depth, func() { w.p.put(plain) })
		} else if text[i] == '\n' && strings.HasSuffix(text[from:i], "  ") {
			w.p.put(text[from:i], markup("<br>\n"))
			n = 1
		}
		if n > 0 {
			i += n
			from = i
			continue
		}
		i++
	}
	w.p.put(text[from:])
}

// at writes what begins at i and returns its size; 0 when nothing does. before writes what stands
// before it.
func (w *inliner) at(text string, i, depth int, before func()) int {
	rest := text[i:]
	switch rest[0] {
	case '\\':
		if len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!<>|~", rest[1]) >= 0 {
			before()
			w.p.put(rest[1:2])
			return 2
		}
	case '`':
		return w.code(rest, before)
	case '*', '_', '~':
		if depth < maxEmphasis {
			return w.emphasis(text, i, depth, before)
		}
	case '!':
		if strings.HasPrefix(rest, "![") {
			if n := w.link(rest[1:], depth, before); n > 0 {
				return n + 1
			}
		}
	case '[':
		return w.link(rest, depth, before)
	case '<':
		if end := strings.IndexByte(rest[:min(len(rest), 2000)], '>'); end > 0 && isWeb(rest[1:end]) {
			before()
			w.anchor(rest[1:end], func() { w.p.put(rest[1:end]) })
			return end + 1
		}
	case 'h':
		return w.address(text, i, before)
	}
	return 0
}

func (w *inliner) code(rest string, before func()) int {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	ticks := rest[:n]
	end := -1
	if !w.missing[ticks] {
		for at := n; at < len(rest); {
			next := strings.Index(rest[at:], ticks)
			if next < 0 {
				break
			}
			at += next
			run := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
			if run == n {
				end = at
				break
			}
			at += run
		}
	}
	before()
	if end < 0 {
		w.missing[ticks] = true
		w.p.put(ticks)
		return n
	}
	code := strings.ReplaceAll(rest[n:end], "\n", " ")
	if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' {
		code = code[1 : len(code)-1]
	}
	w.p.put(markup("<code>"), code, markup("</code>"))
	return end + n
}

// emphases are the marks, the longer of one sign first.
var emphases = []struct {
	mark    string
	element markup
}{{"**", "strong"}, {"__", "strong"}, {"~~", "s"}, {"*", "em"}, {"_", "em"}}

func (w *inliner) emphasis(text string, i, depth int, before func()) int {
	for _, e := range emphases {
		rest := text[i:]
		if !strings.HasPrefix(rest, e.mark) || w.missing[e.mark] {
			continue
		}
		inner := rest[len(e.mark):]
		first, _ := utf8.DecodeRuneInString(inner)
		last, _ := utf8.DecodeLastRuneInString(text[:i])
		if inner == "" || unicode.IsSpace(first) || e.mark[0] == '_' && isWord(last) {
			continue
		}
		end := closing(inner, e.mark)
		if end < 0 {
			w.missing[e.mark] = true
			continue
		}
		if end == 0 {
			continue
		}
		before()
		w.p.put(markup("<"), e.element, markup(">"))
		nested := *w
		nested.missing = map[string]bool{}
		nested.write(inner[:end], depth+1)
		w.p.put(markup("</"), e.element, markup(">"))
		return end + 2*len(e.mark)
	}
	// A run of signs that is no emphasis is text as a whole.
	before()
	run := len(text[i:]) - len(strings.TrimLeft(text[i:], text[i:i+1]))
	w.p.put(text[i : i+run])
	return run
}

// closing is where a mark ends what it began; -1 when it does not. Code is passed over.
func closing(text, mark string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '`':
			if end := strings.IndexByte(text[i+1:], '`'); end >= 0 {
				i += end + 1
			}
		case strings.HasPrefix(text[i:], mark) && i > 0:
			last, _ := utf8.DecodeLastRuneInString(text[:i])
			next, _ := utf8.DecodeRuneInString(text[i+len(mark):])
			longer := len(mark) == 1 && (strings.HasPrefix(text[i+1:], mark) || text[i-1] == mark[0])
			if !unicode.IsSpace(last) && !longer && (mark[0] != '_' || !isWord(next)) {
				return i
			}
		}
	}
	return -1
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// link writes [text](address). An address that is not one of the web is text.
func (w *inliner) link(rest string, depth int, before func()) int {
	const most = 2000
	label := strings.Index(rest[:min(len(rest), most)], "](")
	if label < 0 || w.inLink || strings.Contains(rest[1:label], "\n\n") {
		return 0
	}
	end := strings.IndexByte(rest[label:min(len(rest), label+most)], ')')
	if end < 0 {
		return 0
	}
	target, _, _ := strings.Cut(strings.TrimSpace(rest[label+2:label+end]), " ")
	before()
	text := func() {
		nested := *w
		nested.inLink, nested.missing = true, map[string]bool{}
		nested.write(rest[1:label], depth+1)
	}
	if isWeb(target) {
		w.anchor(target, text)
	} else {
		text()
		w.p.put(" (", target, ")")
	}
	return label + end + 1
}

// address writes an address that stands in the text as a link.
func (w *inliner) address(text string, i int, before func()) int {
	last, _ := utf8.DecodeLastRuneInString(text[:i])
	if w.inLink || isWord(last) || !strings.HasPrefix(text[i:], "http://") && !strings.HasPrefix(text[i:], "https://") {
		return 0
	}
	end := strings.IndexAny(text[i:], " \t\n<>\"`|")
	if end < 0 {
		end = len(text) - i
	}
	found := strings.TrimRight(text[i:i+end], ".,;:!?)]'*_")
	if !isWeb(found) {
		return 0
	}
	before()
	w.anchor(found, func() { w.p.put(found) })
	return len(found)
}

func isWeb(target string) bool {
	u, err := url.Parse(target)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(target, " \n\t")
}

// anchor writes a link that tells its target nothing. The address is shown where it is pointed at.
func (w *inliner) anchor(target string, text func()) {
	if w.inLink {
		text()
		return
	}
	w.p.put(markup("<a rel=\"noopener noreferrer nofollow\" href=\""), target, markup("\" title=\""), target, markup("\">"))
	w.inLink = true
	text()
	w.inLink = false
	w.p.put(markup("</a>"))
}
