package export

import (
	"fmt"
	"strings"
)

// maxProseDepth bounds how deep lists and quotations are nested; what is deeper is text.
const maxProseDepth = 6

// prose writes a model's Markdown: the parts of it that models use. HTML in it is text, and an
// image is a link, because the page loads nothing.
func (p *page) prose(text string) {
	p.put(markup("<div class=\"prose\" dir=\"auto\">\n"))
	p.blocks(strings.Split(strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n"), 0)
	p.put(markup("</div>\n"))
}

// blocks writes the blocks that lines make up. The function of each kind of block writes one that
// the lines begin with and returns how many lines it took, 0 when they begin with another kind.
func (p *page) blocks(lines []string, depth int) {
	for len(lines) > 0 {
		taken := 0
		for _, block := range []func([]string, int) int{p.codeBlock, p.heading, p.ruleBlock, p.quotation, p.listBlock, p.table} {
			if taken = block(lines, depth); taken > 0 {
				break
			}
		}
		if taken == 0 {
			taken = p.paragraph(lines, depth)
		}
		lines = lines[taken:]
	}
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// paragraph writes lines up to one that is blank or begins another block.
func (p *page) paragraph(lines []string, depth int) int {
	n := 0
	for n < len(lines) && !isBlank(lines[n]) && (n == 0 || !startsBlock(lines[n:], depth)) {
		n++
	}
	if n == 0 {
		return 1 // a blank line
	}
	p.put(markup("<p>"))
	p.inline(strings.Join(lines[:n], "\n"))
	p.put(markup("</p>\n"))
	return n
}

// startsBlock reports whether a paragraph ends before a line.
func startsBlock(lines []string, depth int) bool {
	line := strings.TrimLeft(lines[0], " ")
	if fenceStart(line) != "" || headingLevel(line) > 0 || isRule(line) || isTable(lines) {
		return true
	}
	if depth >= maxProseDepth {
		return false
	}
	_, _, isItem := itemOf(lines[0])
	return isItem || strings.HasPrefix(line, ">")
}

// fenceStart is the fence of a line that opens a block of code.
func fenceStart(line string) string {
	for _, sign := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, sign))
		if n >= 3 && (sign == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

func (p *page) codeBlock(lines []string, _ int) int {
	first := strings.TrimLeft(lines[0], " ")
	fence := fenceStart(first)
	if fence == "" {
		return 0
	}
	indent := len(lines[0]) - len(first)
	var code []string
	n := 1
	for ; n < len(lines); n++ {
		line := strings.TrimSpace(lines[n])
		if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
			n++
			break
		}
		code = append(code, lines[n][min(indent, len(lines[n])-len(strings.TrimLeft(lines[n], " "))):])
	}
	language, _, _ := strings.Cut(strings.TrimSpace(first[len(fence):]), " ")
	if language != "" && language != "console" && language != "text" {
		p.put(markup("<p class=\"language\">"), language, markup("</p>\n"))
	}
	if language == "diff" {
		p.put(markup("<pre class=\"terminal\">"))
		for _, line := range code {
			p.diffLine(line)
		}
		p.put(markup("</pre>\n"))
		return n
	}
	p.terminal(strings.Join(code, "\n"))
	return n
}

// diffLine is a line of a unified diff.
func (p *page) diffLine(line string) {
	switch {
	case strings.HasPrefix(line, "+"):
		p.put(markup("<ins>"), line, markup("</ins>\n"))
	case strings.HasPrefix(line, "-"):
		p.put(markup("<del>"), line, markup("</del>\n"))
	default:
		p.put(line, markup("\n"))
	}
}

func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n < 1 || n > 6 || len(line) > n && line[n] != ' ' {
		return 0
	}
	return n
}

// heading writes a heading of the text as a paragraph, because the outline of the page is the turns.
func (p *page) heading(lines []string, _ int) int {
	line := strings.TrimLeft(lines[0], " ")
	level := headingLevel(line)
	if level == 0 {
		return 0
	}
	p.put(markup(fmt.Sprintf("<p class=\"heading heading%d\">", min(level, 4))))
	p.inline(strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[level:]), "#")))
	p.put(markup("</p>\n"))
	return 1
}

func isRule(line string) bool {
	line = strings.ReplaceAll(strings.TrimSpace(line), " ", "")
	return len(line) >= 3 && (strings.Trim(line, "-") == "" || strings.Trim(line, "*") == "" || strings.Trim(line, "_") == "")
}

func (p *page) ruleBlock(lines []string, _ int) int {
	if !isRule(lines[0]) {
		return 0
	}
	p.put(markup("<hr>\n"))
	return 1
}

func (p *page) quotation(lines []string, depth int) int {
	var inner []string
	n := 0
	for ; n < len(lines); n++ {
		line := strings.TrimLeft(lines[n], " ")
		if !strings.HasPrefix(line, ">") {
			break
		}
		inner = append(inner, strings.TrimPrefix(line[1:], " "))
	}
	if n == 0 || depth >= maxProseDepth {
		return 0
	}
	p.put(markup("<blockquote>\n"))
	p.blocks(inner, depth+1)
	p.put(markup("</blockquote>\n"))
	return n
}

// itemOf reads the marker of an item of a list: where its text begins, and the number of an
// ordered one, or "".
func itemOf(line string) (text int, number string, ok bool) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	rest := line[indent:]
	if len(rest) >= 2 && strings.ContainsRune("-*+", rune(rest[0])) && rest[1] == ' ' {
		return indent + 2, "", !isRule(rest)
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits > 0 && digits <= 9 && len(rest) > digits+1 && (rest[digits] == '.' || rest[digits] == ')') && rest[digits+1] == ' ' {
		return indent + digits + 2, rest[:digits], true
	}
	return 0, "", false
}

func (p *page) listBlock(lines []string, depth int) int {
	_, number, ok := itemOf(lines[0])
	if !ok || depth >= maxProseDepth {
		return 0
	}
	element := markup("ul")
	if number != "" {
		element = "ol"
		p.put(markup("<ol start=\""), number, markup("\">\n"))
	} else {
		p.put(markup("<ul>\n"))
	}
	n := 0
	for n < len(lines) {
		text, next, ok := itemOf(lines[n])
		if !ok || (next == "") != (number == "") {
			break
		}
		taken := itemLines(lines[n:], text)
		p.item(lines[n:n+taken], text, depth)
		n += taken
	}
	p.put(markup("</"), element, markup(">\n"))
	return n
}

// itemLines is how many lines belong to an item whose text begins at a column: the lines that are
// indented, and the lines that go on with its last paragraph.
func itemLines(lines []string, text int) int {
	n, blank := 1, false
	for ; n < len(lines); n++ {
		line := lines[n]
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case isBlank(line):
			blank = true
			continue
		case indent >= text, indent >= 2 && indent >= text-1:
		case blank || startsBlock(lines[n:], 0):
			return itemEnd(lines, n)
		}
		blank = false
	}
	return itemEnd(lines, n)
}

// itemEnd is where an item ends whose list goes on, or ends, at line n. Blank lines before n belong
// to the item only when another item follows.
func itemEnd(lines []string, n int) int {
	if n < len(lines) {
		if _, _, next := itemOf(lines[n]); next {
			return n
		}
	}
	for n > 1 && isBlank(lines[n-1]) {
		n--
	}
	return n
}

func (p *page) item(lines []string, text, depth int) {
	inner := []string{lines[0][text:]}
	for _, line := range lines[1:] {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		inner = append(inner, line[min(indent, text):])
	}
	for len(inner) > 0 && isBlank(inner[len(inner)-1]) {
		inner = inner[:len(inner)-1]
	}
	p.put(markup("<li>"))
	switch len(inner) {
	case 0:
	case 1:
		p.inline(withBox(inner[0]))
	default:
		inner[0] = withBox(inner[0])
		p.blocks(inner, depth+1)
	}
	p.put(markup("</li>\n"))
}

// withBox is the text of an item with a sign for its box.
func withBox(text string) string {
	for box, sign := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
		if rest, found := strings.CutPrefix(text, box); found {
			return sign + rest
		}
	}
	return text
}
