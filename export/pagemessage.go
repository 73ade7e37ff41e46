package export

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"acp-agent/internal/ansi"
	"acp-agent/transcript"
)

// Bounds of the images in a page, in bytes of base64: of one, and of all.
const (
	maxImage  = 4 << 20
	maxImages = 32 << 20
)

// longText is how many lines of a result are shown without opening it.
const longText = 12

// conversation writes the turns.
func (p *page) conversation() error {
	for m, err := range p.c.Messages {
		if err != nil {
			return err
		}
		if startsTurn(m) || p.turn == 0 {
			p.startTurn()
		}
		if p.message(m, 3); p.err != nil {
			return p.err
		}
	}
	if p.turn > 0 {
		p.put(markup("</section>\n"))
	} else {
		p.put(markup("<p class=\"note\">Nothing was said in this conversation.</p>\n"))
	}
	return p.err
}

func (p *page) startTurn() {
	if p.turn > 0 {
		p.put(markup("</section>\n"))
	}
	p.turn++
	t := p.turns[min(p.turn, len(p.turns))-1]
	p.put(markup(fmt.Sprintf("<section class=\"turn\" id=\"turn-%d\" aria-labelledby=\"turn-%d-title\">\n<h2 id=\"turn-%d-title\"><span class=\"number\">%d</span> ",
		p.turn, p.turn, p.turn, p.turn)))
	p.put(markup("<span dir=\"auto\">"), t.title, markup("</span></h2>\n<p class=\"about\">"))
	about := stamp(t.started)
	if t.usage.Total() > 0 {
		about = strings.TrimPrefix(about+" · "+usageText(t.usage)+" tokens", " · ")
	}
	if t.cost > 0 {
		about += " · " + dollars(t.cost)
	}
	p.put(about, markup("</p>\n"))
}

// message writes a message with a heading of a level.
func (p *page) message(m *transcript.Message, level int) {
	if m.Clears {
		p.put(markup("<p class=\"note\">The conversation was cleared here: the model saw nothing of what stands above.</p>\n"))
		return
	}
	if text := compactionText(m); text != "" {
		p.put(markup("<p class=\"note\">"), text, markup("</p>\n"))
		if m.Text() != "" {
			p.fold("Summary", "thought", func() { p.prose(m.Text()) })
		}
		return
	}
	class, who := markup("agent"), "Agent"
	switch {
	case m.Role == transcript.User:
		class, who = "user", "You"
	case m.Synthetic:
		class, who = "notice", "Notice"
	}
	h := markup(fmt.Sprintf("h%d", min(level, 6)))
	p.put(markup("<article class=\"message "), class, markup("\">\n<"), h, markup(" class=\"who\">"), who)
	if m.Model != "" {
		p.put(markup(" <span class=\"model\">"), m.Model, markup("</span>"))
	}
	p.put(markup("</"), h, markup(">\n"))
	for _, part := range m.Parts {
		p.part(m, part, level)
	}
	p.put(markup("</article>\n"))
}

func (p *page) part(m *transcript.Message, part transcript.Part, level int) {
	switch v := part.(type) {
	case *transcript.TextPart:
		switch {
		case strings.TrimSpace(v.Text) == "":
		case v.Synthetic && m.Role == transcript.User:
			p.fold("Added by the agent", "thought", func() { p.plain(v.Text) })
		case m.Role == transcript.User:
			p.plain(v.Text)
		default:
			p.prose(v.Text)
		}
	case *transcript.ReasoningPart:
		if strings.TrimSpace(v.Text) != "" {
			p.fold("Thought", "thought", func() { p.prose(v.Text) })
		}
	case *transcript.ImagePart:
		p.image(v.MediaType, v.Data)
	case *transcript.LinkPart:
		p.put(markup("<p class=\"mention\">Mentioned: "), v.Name, markup(" <code>"), v.URI, markup("</code></p>\n"))
	case *transcript.ResourcePart:
		p.fold("Attached: "+v.URI, "attached", func() { p.terminal(v.Text) })
	case *transcript.ToolPart:
		p.call(v, level)
	}
}

// fold writes something that the reader opens.
func (p *page) fold(summary string, class markup, body func()) {
	p.put(markup("<details class=\""), class, markup("\">\n<summary>"), summary, markup("</summary>\n"))
	body()
	p.put(markup("</details>\n"))
}

// plain is a text as it was typed.
func (p *page) plain(text string) {
	p.put(markup("<div class=\"plain\" dir=\"auto\">"), strings.Trim(text, "\n"), markup("</div>\n"))
}

// terminal is a text as a terminal shows it.
func (p *page) terminal(text string) {
	p.put(markup("<pre class=\"terminal\">"))
	for _, span := range ansi.Spans(strings.Trim(text, "\n")) {
		classes := styleClasses(span.Style)
		if classes == "" {
			p.put(span.Text)
			continue
		}
		p.put(markup("<span class=\""), classes, markup("\">"), span.Text, markup("</span>"))
	}
	p.put(markup("</pre>\n"))
}

// styleClasses are the classes of a terminal's style. Colours are classes, too: the policy of the
// page allows no style of an element, and each of its themes has colours that can be read.
func styleClasses(s ansi.Style) markup {
	var classes []string
	for _, c := range []struct {
		on   bool
		name string
	}{{s.Bold, "b"}, {s.Dim, "d"}, {s.Italic, "i"}, {s.Underline, "u"}, {s.Strike, "s"}, {s.Inverse, "v"}} {
		if c.on {
			classes = append(classes, c.name)
		}
	}
	if s.Foreground != ansi.Default {
		classes = append(classes, fmt.Sprintf("f%d", s.Foreground))
	}
	if s.Background != ansi.Default {
		classes = append(classes, fmt.Sprintf("g%d", s.Background))
	}
	return markup(strings.Join(classes, " "))
}

// imageTypes are the media types of images that a page shows. SVG is not among them, because it is a
// document that can hold scripts.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func (p *page) image(mediaType, data string) {
	size := base64.StdEncoding.DecodedLen(len(data))
	valid := slices.Contains(imageTypes, mediaType) && len(data) > 0 && len(data) <= maxImage && p.images+len(data) <= maxImages &&
		strings.Trim(data, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") == ""
	if !valid {
		p.put(markup("<p class=\"mention\">"), imageText(mediaType, data), markup("</p>\n"))
		return
	}
	p.images += len(data)
	p.put(markup("<p><img alt=\""), fmt.Sprintf("A picture, %s, %d KB", mediaType, (size+1023)/1024), markup("\" src=\"data:"), mediaType, markup(";base64,"), data, markup("\"></p>\n"))
}
