package webpage

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"acp-agent/internal/textcut"
)

const (
	// maxDepth bounds the levels of a tree. The parser's own bound is on open
	// elements, which misnested ones can pass.
	maxDepth = 1000
	// maxIndent bounds nests of what indents its lines: each level writes all
	// lines beneath it again, longer.
	maxIndent = 8
	// maxTables bounds nests of tables, whose cells are counted at each level.
	maxTables = 4
	// maxSpan bounds how many cells one cell may cover, maxCells how many a
	// table may have once they are filled up.
	maxSpan  = 50
	maxCells = 20_000
	// maxLink bounds an address in a page, in bytes, and maxGrown what links may
	// grow altogether: a short link to each of many long addresses.
	maxLink  = 2048
	maxGrown = 2 << 20
	// maxText bounds a text node, in bytes.
	maxText = 64 << 10
)

// pruning makes a document fit to be rendered: without what is not text, with
// absolute links, and without what would make the result much larger than it.
type pruning struct {
	base  *url.URL
	title string
	// nodes counts what is left.
	nodes int
	// grown counts the bytes that absolute links are longer than they were.
	grown int
}

// place is where a node stands.
type place struct{ depth, indent, tables int }

func (p *pruning) prune(n *html.Node, at place) {
	p.nodes++
	if at.depth > maxDepth {
		n.FirstChild, n.LastChild = nil, nil
		return
	}
	if n.Type == html.ElementNode {
		at = p.element(n, at)
	}
	at.depth++
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		switch {
		case p.unneeded(child):
			n.RemoveChild(child)
		case child.Type == html.TextNode:
			p.nodes += 1 + len(child.Data)/maxText // it is divided later
		default:
			p.prune(child, at)
		}
		child = next
	}
}

// divide makes several nodes of each long text, so that its rendering heeds a cancel between them.
func divide(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type != html.TextNode {
			divide(child)
			continue
		}
		for len(child.Data) > maxText {
			first := textcut.First(child.Data, maxText)
			rest := &html.Node{Type: html.TextNode, Data: child.Data[len(first):]}
			child.Data = first
			n.InsertBefore(rest, child.NextSibling)
			child = rest
		}
	}
}

// unneeded reports what is not text of the page, and takes the title from it.
func (p *pruning) unneeded(n *html.Node) bool {
	if n.DataAtom != atom.Title {
		return false
	}
	if p.title == "" && n.FirstChild != nil {
		p.title = n.FirstChild.Data
	}
	return true
}

// element changes one element and says where its children stand.
func (p *pruning) element(n *html.Node, at place) place {
	switch n.DataAtom {
	case atom.Blockquote, atom.Ul, atom.Ol, atom.Menu:
		at.indent++
		if at.indent > maxIndent {
			flatten(n)
		}
	case atom.Li:
		if at.indent > maxIndent {
			flatten(n)
		}
	case atom.Table:
		at.tables++
		if at.tables > maxTables {
			flatten(n)
		} else if tooWide(n) {
			unmake(n)
		}
	case atom.A:
		p.link(n, "href")
	case atom.Img:
		p.link(n, "src")
	}
	return at
}

// flatten makes a plain block of an element.
func flatten(n *html.Node) { n.Data, n.DataAtom, n.Attr = "div", atom.Div, nil }

// unmake makes plain blocks of a table and its parts.
func unmake(table *html.Node) {
	flatten(table)
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Colgroup, atom.Col:
			flatten(n)
		}
	}
}

// tooWide bounds the spans of a table's cells and reports one that would have
// too many cells: one long row widens all others. The rows of nested tables
// count too, which does no harm.
func tooWide(table *html.Node) bool {
	rows, widest, width := 0, 0, 0
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			rows, width = rows+1, 0
		case atom.Td, atom.Th:
			columns, below := span(n, "colspan"), span(n, "rowspan")
			width += columns
			widest = max(widest, width)
			if below > 1 {
				rows += below - 1
				widest += columns
			}
			if rows*widest > maxCells {
				return true
			}
		}
	}
	return false
}

// span is the value of colspan or rowspan, bounded in the document too.
func span(n *html.Node, name string) int {
	for i, a := range n.Attr {
		if a.Key != name {
			continue
		}
		v, err := strconv.Atoi(strings.TrimSpace(a.Val))
		if err != nil || v < 1 {
			v = 1
		}
		v = min(v, maxSpan)
		n.Attr[i].Val = strconv.Itoa(v)
		return v
	}
	return 1
}

// link makes the address of a link or a picture absolute. What is not of the
// web is left out: a data address is as long as what it holds.
func (p *pruning) link(n *html.Node, name string) {
	for i, a := range n.Attr {
		if a.Key != name {
			continue
		}
		to, err := p.base.Parse(strings.TrimSpace(a.Val))
		if err == nil && (to.Scheme == "http" || to.Scheme == "https" || to.Scheme == "mailto") {
			absolute := to.String()
			if p.grown += len(absolute) - len(a.Val); p.grown <= maxGrown {
				n.Attr[i].Val = absolute
			}
			return
		}
		n.Attr[i].Val = ""
		if n.DataAtom == atom.A {
			n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
		}
		return
	}
}

// baseOf is what the links of a document are relative to.
func baseOf(doc *html.Node, at string) *url.URL {
	base, err := url.Parse(at)
	if err != nil {
		base = &url.URL{}
	}
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Base {
			continue
		}
		for _, a := range n.Attr {
			if a.Key != "href" {
				continue
			}
			if to, err := base.Parse(strings.TrimSpace(a.Val)); err == nil && len(a.Val) <= maxLink {
				return to
			}
			return base
		}
	}
	return base
}
