package webpage

import (
	"bytes"
	"context"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// convertHTML makes Markdown of a page. What the parser refuses (it does, beyond
// 512 levels) or what would cost too much becomes plain text.
func convertHTML(ctx context.Context, source, url string) (Page, error) {
	tidied, ok := tidy(ctx, source)
	if !ok {
		return plain(ctx, source)
	}
	doc, err := html.Parse(ended{ctx, strings.NewReader(tidied)})
	if err != nil {
		return plain(ctx, source)
	}
	p := pruning{base: baseOf(doc, url)}
	p.prune(doc, place{})
	markdown, ok := render(ctx, doc, p.nodes)
	if ctx.Err() != nil {
		return Page{}, context.Cause(ctx)
	}
	if !ok {
		return plain(ctx, source)
	}
	return Page{Title: oneLine(p.title), Text: strings.Trim(clean(markdown), "\n")}, nil
}

// render makes Markdown of a pruned document of so many nodes. It gives up when
// nodes are asked for again and again, which in nests of elements that are first
// tried and then rendered otherwise grows without bound.
func render(ctx context.Context, doc *html.Node, nodes int) (markdown string, ok bool) {
	defer func() {
		// A page is foreign, and the library is not ours: a bug there costs the
		// Markdown, not the agent. A panic is also how its work ends with ctx.
		if recover() != nil {
			markdown, ok = "", false
		}
	}()
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
		// Padding would make each row as wide as the widest.
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
	))
	stop := func() { stopWith(ctx) }
	conv.Register.PreRenderer(func(converter.Context, *html.Node) { stop() }, converter.PriorityEarly+1)
	// Last of all, for the library joins texts that stand side by side.
	conv.Register.PreRenderer(func(_ converter.Context, doc *html.Node) { stop(); divide(doc) }, converter.PriorityLate+1)
	conv.Register.TextTransformer(func(_ converter.Context, text string) string { stop(); return text }, converter.PriorityEarly)
	conv.Register.PostRenderer(func(_ converter.Context, text []byte) []byte { stop(); return text }, converter.PriorityLate)
	const tries = 8
	left := tries*nodes + 1000
	conv.Register.Renderer(func(converter.Context, converter.Writer, *html.Node) converter.RenderStatus {
		stop()
		if left--; left < 0 {
			return converter.RenderSuccess // renders nothing, so the work ends soon
		}
		return converter.RenderTryNext
	}, converter.PriorityEarly)
	conv.Register.UnEscaper(func(text []byte, at int) int {
		stop()
		return unescape(text, at)
	}, converter.PriorityEarly)
	out, err := conv.ConvertNode(doc, converter.WithContext(ctx))
	return string(out), err == nil && left >= 0
}

// stopWith panics when ctx has ended: the library looks at its context only between
// phases, each of which can take seconds for one long text.
func stopWith(ctx context.Context) {
	if err := ctx.Err(); err != nil {
		panic(err)
	}
}

// maxLabel is how far the end of a link's label is looked for, in bytes.
const maxLabel = 256

// unescape judges, before the library does, whether a character of the text at an index
// keeps its backslash: it answers how many bytes are judged, or -1 for the library to
// judge. An opening bracket whose end is not near keeps it, because the library looks for
// the end up to the end of the line, for each bracket.
func unescape(text []byte, at int) int {
	rest := text[at:]
	if rest[0] == '[' && len(rest) > maxLabel && !bytes.ContainsAny(rest[:maxLabel], "]\n") {
		return 1
	}
	return -1
}

// ended is a reader that stops with its context.
type ended struct {
	ctx  context.Context
	from *strings.Reader
}

func (e ended) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.from.Read(p)
}
