// Package webpage makes text of what a web server answered: HTML becomes
// Markdown, other text becomes UTF-8, pictures are handed on, and the rest is
// described in a line.
//
// It owns the judgement of what a body is, by its bytes before its header, and
// the guards that keep a hostile page from costing more than its size: input is
// bounded, nesting is bounded, and a page that the Markdown library would take
// too long for is returned as plain text. It refuses to know the network, tools,
// and how much of a text a model may see.
//
//	page, err := webpage.Convert(ctx, body, "text/html; charset=utf-8", "https://example.com/a")
//	switch {
//	case err != nil: // ctx has ended
//	case page.MediaType != "": // a picture: page.Image
//	case page.Descriptor != "": // nothing to read: what it is, in a line
//	default: // page.Title, page.Text
//	}
//
// Its texts are valid UTF-8 without control characters other than newline and
// tab, and without invisible characters that hide instructions or turn a text
// around.
//
// Allowed imports: the standard library, golang.org/x/net/html (and its
// charset), html-to-markdown and internal/textcut. It starts no goroutine.
//
// # Requirements
//
// R82.
package webpage
