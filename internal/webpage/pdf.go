package webpage

import (
	"fmt"
	"regexp"
	"strconv"
)

// describePDF names the pages when they can be read without unpacking: from the
// mark of a file made for the web, or from the largest count in a page tree.
func describePDF(body []byte, size int) string {
	linear := regexp.MustCompile(`/Linearized\b[^>]{0,400}?/N\s+(\d{1,6})\b`)
	tree := regexp.MustCompile(`/Type\s*/Pages\b[^>]{0,400}?/Count\s+(\d{1,6})\b|/Count\s+(\d{1,6})\b[^>]{0,400}?/Type\s*/Pages\b`)
	pages := 0
	if m := linear.FindSubmatch(body[:min(len(body), 1024)]); m != nil {
		pages = number(m[1])
	} else {
		for _, m := range tree.FindAllSubmatch(body, -1) {
			pages = max(pages, number(m[1]), number(m[2]))
		}
	}
	if pages == 0 {
		return describe("application/pdf", size)
	}
	return fmt.Sprintf("application/pdf, %d pages, %d bytes, which cannot be shown as text", pages, size)
}

// number reads digits; none are 0.
func number(digits []byte) int {
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0
	}
	return n
}
