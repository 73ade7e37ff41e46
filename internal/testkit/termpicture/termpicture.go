package termpicture

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Options say how a picture looks.
type Options struct {
	// Title is what a screen reader says of the picture.
	Title string
	// Still is a text of the line that stands at the bottom where nothing moves; the last line
	// stands there when it is empty or does not occur.
	Still string
	// Columns and Rows are the size in characters; 0 means 100 and 28. A longer line is cut.
	Columns, Rows int
}

// Sizes in pixels, and the time that a line is the newest.
const (
	charWidth, lineHeight = 8, 18
	margin                = 16
	secondsPerLine        = 0.45
	secondsAtEnd          = 4
)

// Draw returns the SVG of a program's output.
func Draw(output string, o Options) string {
	o.Columns, o.Rows = cmp.Or(o.Columns, 100), cmp.Or(o.Rows, 28)
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	still := len(lines) - 1
	for i, line := range lines {
		if o.Still != "" && strings.Contains(line, o.Still) {
			still = i
			break
		}
	}
	width, height := o.Columns*charWidth+2*margin, o.Rows*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n", html.EscapeString(o.Title))
	b.WriteString("text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #d6deeb }\n")
	b.WriteString(".b { font-weight: bold } .d { opacity: .6 } .r { fill: #ff7b72 } .g { fill: #7ee787 } .y { fill: #f2cc60 } .c { fill: #79c0ff }\n")
	writeMotion(&b, len(lines), still, o.Rows)
	b.WriteString("</style>\n")
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#0d1117\"/>\n", width, height)
	fmt.Fprintf(&b, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">\n<g id=\"lines\">\n", margin, margin, o.Columns*charWidth, o.Rows*lineHeight)
	for i, line := range lines {
		fmt.Fprintf(&b, "<text y=\"%d\">%s</text>\n", (i+1)*lineHeight-5, spans(line, o.Columns))
	}
	b.WriteString("</g>\n</svg>\n</svg>\n")
	return b.String()
}

// writeMotion moves the lines up, one by one, until the newest stands at the bottom.
func writeMotion(b *strings.Builder, lines, still, rows int) {
	total := float64(lines)*secondsPerLine + secondsAtEnd
	at := func(newest int) int { return (rows - 1 - newest) * lineHeight }
	fmt.Fprintf(b, "#lines { transform: translateY(%dpx) }\n", at(still))
	fmt.Fprintf(b, "@media (prefers-reduced-motion: no-preference) { #lines { animation: play %.2fs step-end infinite } }\n@keyframes play {\n", total)
	for i := range lines {
		fmt.Fprintf(b, "%.2f%% { transform: translateY(%dpx) }\n", 100*float64(i)*secondsPerLine/total, at(i))
	}
	b.WriteString("}\n")
}

// classes are the styles of SGR parameters.
var classes = map[string]string{"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}

// spans turns a line with SGR sequences into text with styles, cut to a number of columns.
func spans(line string, columns int) string {
	var b strings.Builder
	for i, piece := range strings.Split(strings.ReplaceAll(line, "\t", "    "), "\x1b[") {
		class := ""
		if i > 0 {
			parameters, rest, ok := strings.Cut(piece, "m")
			if !ok {
				continue
			}
			class, piece = classes[parameters], rest
		}
		if length := utf8.RuneCountInString(piece); length > columns {
			piece = string([]rune(piece)[:max(columns-1, 0)]) + "…"
			columns = 0
		} else {
			columns -= length
		}
		switch {
		case piece == "":
		case class == "":
			b.WriteString(html.EscapeString(piece))
		default:
			fmt.Fprintf(&b, "<tspan class=%q>%s</tspan>", class, html.EscapeString(piece))
		}
		if columns == 0 {
			break
		}
	}
	return b.String()
}

// Lines returns the text of the lines of a picture that Draw made, without styles.
func Lines(svg string) []string {
	var lines []string
	for line := range strings.Lines(svg) {
		_, text, ok := strings.Cut(line, "<text y=")
		if !ok {
			continue
		}
		_, text, _ = strings.Cut(text, ">")
		text = strings.TrimSuffix(strings.TrimSpace(text), "</text>")
		var plain strings.Builder
		for text != "" {
			before, tag, found := strings.Cut(text, "<")
			plain.WriteString(html.UnescapeString(before))
			if !found {
				break
			}
			_, text, _ = strings.Cut(tag, ">")
		}
		lines = append(lines, plain.String())
	}
	return lines
}
