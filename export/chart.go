package export

import "fmt"

const (
	chartHeight = 120
	chartWidth  = 640
	maxBarWidth = 40
	barGap      = 4
	// maxBars bounds the chart; of more turns each bar stands for several.
	maxBars = 120
)

// bar is one bar of the chart.
type bar struct {
	from, to   int // turns, from 1
	cached, in int
	out        int
	cost       float64
}

func (b bar) total() int { return b.cached + b.in + b.out }

func (b bar) name() string {
	if b.from == b.to {
		return fmt.Sprintf("Turn %d", b.from)
	}
	return fmt.Sprintf("Turns %d to %d", b.from, b.to)
}

// bars are the turns' usage, at most maxBars of them.
func bars(list []turn) []bar {
	each := (len(list) + maxBars - 1) / maxBars
	var all []bar
	for i, t := range list {
		if i%each == 0 {
			all = append(all, bar{from: i + 1})
		}
		b := &all[len(all)-1]
		b.to, b.cost = i+1, b.cost+t.cost
		b.cached, b.in, b.out = b.cached+t.usage.CacheRead, b.in+t.usage.Input+t.usage.CacheWrite, b.out+t.usage.Output+t.usage.Reasoning
	}
	return all
}

// usage draws what each turn took, and says it in a table.
func (p *page) usage() {
	all, most, paid := bars(p.turns), 0, false
	for _, b := range all {
		most, paid = max(most, b.total()), paid || b.cost > 0
	}
	if most == 0 {
		return
	}
	p.put(markup("<section class=\"box\" aria-labelledby=\"usage\">\n<h2 id=\"usage\">Usage</h2>\n"))
	barWidth := min(maxBarWidth, max(1, chartWidth/len(all)-barGap))
	width := len(all)*(barWidth+barGap) + barGap
	p.put(markup(fmt.Sprintf("<svg class=\"chart\" role=\"img\" aria-labelledby=\"chart-title\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n<title id=\"chart-title\">",
		width, chartHeight+2, width, chartHeight+2)))
	p.put("Tokens by turn; the table below has the numbers.", markup("</title>\n"))
	for i, b := range all {
		p.bar(barGap+i*(barWidth+barGap), barWidth, b, most)
	}
	p.put(markup(fmt.Sprintf("<line x1=\"0\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n</svg>\n", chartHeight+1, width, chartHeight+1)))
	p.put(markup("<p class=\"legend\"><span class=\"key cached\"></span> in, from the cache <span class=\"key in\"></span> in <span class=\"key out\"></span> out</p>\n"))
	p.usageTable(all, paid)
	p.put(markup("</section>\n"))
}

// bar draws a bar of a width at x.
func (p *page) bar(x, width int, b bar, most int) {
	p.put(markup("<g><title>"), fmt.Sprintf("%s: %s tokens", b.name(), thousands(b.total())), markup("</title>"))
	y := float64(chartHeight)
	for _, piece := range []struct {
		class  markup
		tokens int
	}{{"cached", b.cached}, {"in", b.in}, {"out", b.out}} {
		height := float64(piece.tokens) / float64(most) * chartHeight
		if height <= 0 {
			continue
		}
		y -= height
		p.put(markup(fmt.Sprintf("<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>", piece.class, x, max(0, y), width, height)))
	}
	p.put(markup("</g>\n"))
}

func (p *page) usageTable(all []bar, paid bool) {
	p.put(markup("<details><summary>Numbers</summary>\n<table class=\"numbers\">\n<caption>Tokens by turn, with subagents</caption>\n" +
		"<thead><tr><th scope=\"col\">Turn</th><th scope=\"col\">In, from the cache</th><th scope=\"col\">In</th><th scope=\"col\">Out</th>"))
	if paid {
		p.put(markup("<th scope=\"col\">Cost</th>"))
	}
	p.put(markup("</tr></thead>\n<tbody>\n"))
	for _, b := range all {
		p.put(markup("<tr><th scope=\"row\">"), b.name(), markup("</th><td>"), thousands(b.cached), markup("</td><td>"), thousands(b.in),
			markup("</td><td>"), thousands(b.out), markup("</td>"))
		if paid {
			p.put(markup("<td>"), dollars(b.cost), markup("</td>"))
		}
		p.put(markup("</tr>\n"))
	}
	p.put(markup("</tbody>\n</table>\n</details>\n"))
}
