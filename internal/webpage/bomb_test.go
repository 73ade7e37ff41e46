package webpage_test

import (
	"fmt"
	"strings"
	"testing"

	"acp-agent/internal/webpage"
)

// distinct are formatting elements no two of which are alike.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<font a=%d><b a=%d><code class=%d><pre><code class=%d></pre>", i, i, i, i)
	}
	return b.String()
}

// Pages that are made to cost more than their size. Each must come back as text
// of a size that is in proportion; the test's own time limit catches what hangs.
func TestConvert_Bombs(t *testing.T) {
	t.Parallel()
	nest := func(n int, open, inner, end string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	tests := []struct{ name, html string }{
		{"nested divs", nest(100_000, "<div>", "inside", "</div>")},
		{"divs within the parser's bound", nest(500, "<div>", strings.Repeat("inside ", 100_000), "</div>")},
		{"nested quotes", nest(400, "<blockquote>", strings.Repeat("<p>inside</p>", 2_000), "</blockquote>")},
		{"nested lists", nest(200, "<ul><li>", strings.Repeat("inside<br>", 5_000), "</li></ul>")},
		{"nested tables", nest(100, "<table><tr><td>", "inside", "</td></tr></table>")},
		{"full nested tables", nest(100, "<table><tr><td>", strings.Repeat("<p>inside</p>", 2_000), "</td></tr></table>")},
		{"nested links", nest(400, `<a href=x><div><b>`, "inside", "")},
		{"nested empty links", nest(60, `<a href=""><table><tr><td>`, "inside", "")},
		{"nested inline", nest(150, "<b><i><s><code>", "inside", "")},
		{"misnested", strings.Repeat("<b><p><i></b>", 5_000) + "inside"},
		{"open formatting", strings.Repeat("<font size=1><p>", 20_000) + "inside"},
		{"wide cells", `<table>` + strings.Repeat(`<tr><td colspan=1000000 rowspan=1000000>inside`, 3_000) + `</table>`},
		{"one long row", `<table><tr>` + strings.Repeat("<td>inside", 20_000) + strings.Repeat("<tr><td>a", 20_000) + `</table>`},
		{"one long cell", `<table>` + strings.Repeat("<tr><td>inside<td>b", 5_000) + "<tr><td>" + strings.Repeat("a", 1<<17) + `</table>`},
		{"many links", `<base href="https://example.com/` + strings.Repeat("a", 1500) + `/">inside` + strings.Repeat("<a href=x>y</a>", 5_000)},
		{"formatting opened again in each block", "<div>" + distinct(400) + "</div>" + strings.Repeat("<p>inside</p>", 5_000)},
		{"the same in pieces", "<div>" + strings.ReplaceAll(distinct(400), "<", "<<font>") + "</div>" + strings.Repeat("<p>inside</p>", 5_000)},
		{"the same in a drawing", "<svg><style>" + distinct(400) + "</style></svg></div>" + strings.Repeat("<p>inside</p>", 5_000)},
		{"the same in raw text", "<textarea>" + distinct(400) + "</textarea>" + strings.Repeat("<p>inside</p>", 5_000)},
		{"kinds of formatting", "<div>" + strings.Repeat("<b><i><code><u><s><tt><em><strong>", 40) + "</div>" + strings.Repeat("<p>inside</p>", 5_000)},
		{"too many tags", strings.Repeat("<br>", 200_000) + "inside"},
		{"attributes", "<p " + strings.Repeat("a=b ", 200_000) + ">inside"},
		{"entities", "inside" + strings.Repeat("&nGt;", 200_000)},
		{"angle brackets", "inside" + strings.Repeat("<", 1<<17)},
		{"comments", "inside" + strings.Repeat("<!--", 200_000)},
		{"letters to be escaped", "inside" + strings.Repeat("*_[]`#", 20_000)},
		{"line ends in code", "<pre>inside" + strings.Repeat("\n`", 200_000)},
		{"one long word of code", "<code>inside" + strings.Repeat("`", 1<<17) + "</code>"},
		{"headings", strings.Repeat("<h1>inside</h1>", 20_000)},
		{"nested definition lists", nest(200, "<dl><dd>", "inside", "")},
		{"nested selects", nest(200, "<select><option>", "inside", "")},
		{"nested templates", nest(300, "<template>", "inside", "</template>") + "inside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			page, err := webpage.Convert(t.Context(), []byte(tt.html), "text/html", "https://example.com/")
			if err != nil || !strings.Contains(page.Text, "inside") {
				t.Fatalf("Convert: %d bytes, %v", len(page.Text), err)
			}
			if most := 30*len(tt.html) + 1<<16; len(page.Text) > most {
				t.Errorf("%d bytes of %d, want at most %d", len(page.Text), len(tt.html), most)
			}
		})
	}
}
