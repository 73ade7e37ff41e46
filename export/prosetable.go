package export

import "strings"

// isTable reports whether lines begin with a head of a table and the line below it.
func isTable(lines []string) bool {
	if len(lines) < 2 || !strings.Contains(lines[0], "|") {
		return false
	}
	below := strings.TrimSpace(lines[1])
	return strings.Contains(below, "-") && strings.Contains(below, "|") && strings.Trim(below, "|:- ") == "" && len(cells(lines[0])) == len(cells(lines[1]))
}

// cells are the cells of a line. A sign that is escaped, or stands in code, does not divide.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	var list []string
	from, inCode := 0, false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == '`':
			inCode = !inCode
		case line[i] == '|' && !inCode:
			list = append(list, strings.TrimSpace(line[from:i]))
			from = i + 1
		}
	}
	if rest := strings.TrimSpace(line[min(from, len(line)):]); rest != "" || len(list) == 0 {
		list = append(list, rest)
	}
	return list
}

func (p *page) table(lines []string, _ int) int {
	if !isTable(lines) {
		return 0
	}
	head := cells(lines[0])
	p.put(markup("<table>\n<thead><tr>"))
	for _, cell := range head {
		p.put(markup("<th scope=\"col\">"))
		p.inline(cell)
		p.put(markup("</th>"))
	}
	p.put(markup("</tr></thead>\n<tbody>\n"))
	n := 2
	for ; n < len(lines) && strings.Contains(lines[n], "|"); n++ {
		p.put(markup("<tr>"))
		row := cells(lines[n])
		for i := range max(len(head), len(row)) {
			p.put(markup("<td>"))
			if i < len(row) {
				p.inline(row[i])
			}
			p.put(markup("</td>"))
		}
		p.put(markup("</tr>\n"))
	}
	p.put(markup("</tbody>\n</table>\n"))
	return n
}
