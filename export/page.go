package export

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"

	"acp-agent/kinds"
)

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// markup is HTML that this package wrote itself: a constant, or what it made of numbers.
type markup string

// page writes an HTML page. A write that failed fails all later ones.
type page struct {
	to     io.Writer
	c      Conversation
	turns  []turn
	turn   int // the number of the turn that is written
	images int // bytes of images so far
	err    error
}

// put writes parts one after the other: a markup as it is, and anything else as text, escaped,
// with what is not visible written out.
func (p *page) put(parts ...any) {
	for _, part := range parts {
		text := ""
		switch v := part.(type) {
		case markup:
			text = string(v)
		case string:
			text = html.EscapeString(kinds.Visible(v))
		default:
			text = html.EscapeString(fmt.Sprint(v))
		}
		if p.err == nil {
			_, p.err = io.WriteString(p.to, text)
		}
	}
}

// hashSource is a source expression of a content security policy that allows one text.
func hashSource(text string) markup {
	sum := sha256.Sum256([]byte(text))
	return markup("'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
}

func writeHTML(w io.Writer, c Conversation) error {
	list, err := c.turns()
	if err != nil {
		return err
	}
	p := &page{to: w, c: c, turns: list}
	p.head()
	p.overview()
	p.put(markup("<main id=\"conversation\" tabindex=\"-1\" aria-label=\"Conversation\">\n"))
	if err := p.conversation(); err != nil {
		return err
	}
	p.put(markup("</main>\n<footer><p>Written by acp-agent. This page loads nothing from anywhere.</p></footer>\n"))
	p.put(markup("<script>"), markup(pageScript), markup("</script>\n</body>\n</html>\n"))
	return p.err
}

func (p *page) head() {
	p.put(markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "),
		hashSource(pageStyle), markup("; script-src "), hashSource(pageScript), markup("; img-src data:; base-uri 'none'; form-action 'none'\">\n"))
	p.put(markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"+
		"<meta name=\"referrer\" content=\"no-referrer\">\n<title>"), titleOf(p.c), markup("</title>\n<style>"), markup(pageStyle), markup("</style>\n</head>\n<body>\n"))
	p.put(markup("<a class=\"skip\" href=\"#conversation\">Skip to the conversation</a>\n"))
}

// overview writes what stands before the conversation: facts, search, plan, usage, turns.
func (p *page) overview() {
	p.put(markup("<header>\n<h1 dir=\"auto\">"), titleOf(p.c), markup("</h1>\n<dl class=\"facts\">\n"))
	for _, fact := range facts(p.c, p.turns) {
		p.put(markup("<div><dt>"), fact.name, markup("</dt><dd>"), fact.value, markup("</dd></div>\n"))
	}
	p.put(markup("</dl>\n"))
	for _, note := range p.c.Notes {
		p.put(markup("<p class=\"note\">"), note, markup("</p>\n"))
	}
	p.put(markup("</header>\n"), markup(searchForm))
	p.put(markup("<div class=\"overview\">\n"))
	p.plan()
	p.usage()
	p.list()
	p.put(markup("</div>\n"))
}

// searchForm is hidden until the script that it needs runs.
const searchForm = `<search>
<form id="find" hidden>
<label for="words">Search this conversation</label>
<input id="words" type="search" autocomplete="off" spellcheck="false">
<button type="submit">Next</button>
<button type="button" id="previous">Previous</button>
<label class="only"><input type="checkbox" id="only"> Only messages that match</label>
<output id="found" for="words" aria-live="polite"></output>
</form>
</search>
`

func (p *page) plan() {
	if len(p.c.Plan) == 0 {
		return
	}
	p.put(markup("<section class=\"box\" aria-labelledby=\"plan\">\n<h2 id=\"plan\">Plan</h2>\n<ul class=\"plan\">\n"))
	for _, entry := range p.c.Plan {
		class, state := markup("open"), "to do"
		switch entry.Status {
		case "completed":
			class, state = "done", "done"
		case "in_progress":
			class, state = "now", "in progress"
		}
		p.put(markup("<li class=\""), class, markup("\"><span class=\"state\">"), state, markup("</span> "), entry.Content, markup("</li>\n"))
	}
	p.put(markup("</ul>\n</section>\n"))
}

// list writes a link to each turn.
func (p *page) list() {
	if len(p.turns) < 2 {
		return
	}
	p.put(markup("<nav class=\"box\" aria-labelledby=\"turns\">\n<h2 id=\"turns\">Turns</h2>\n<ol>\n"))
	for i, t := range p.turns {
		p.put(markup(fmt.Sprintf("<li><a href=\"#turn-%d\" dir=\"auto\">", i+1)), t.title, markup("</a></li>\n"))
	}
	p.put(markup("</ol>\n</nav>\n"))
}
