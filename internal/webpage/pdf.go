package webpage

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
)

const (
	// pdfEnds is how much of each end of a PDF file is looked through for the
	// number of its pages, in bytes, and pdfPiece how much between two looks at
	// the context.
	pdfEnds  = 1 << 20
	pdfPiece = 64 << 10
	// pdfCount is longer than any number with its name, pdfNear how far from it
	// stands what it counts, in bytes.
	pdfCount = 32
	pdfNear  = 400
)

// describePDF names the pages when they can be read without unpacking: from the
// mark of a file made for the web, or from the largest count in a page tree at
// one of the file's ends. The error is that of ctx.
func describePDF(ctx context.Context, body []byte, size int) (string, error) {
	linear := regexp.MustCompile(`/Linearized\b[^>]{0,400}?/N\s{1,9}(\d{1,6})\b`)
	pages := 0
	if m := linear.FindSubmatch(body[:min(len(body), 1024)]); m != nil {
		pages = number(m[1])
	} else {
		last := max(len(body)-pdfEnds, min(len(body), pdfEnds))
		for _, end := range [][]byte{body[:min(len(body), pdfEnds)], body[last:]} {
			counted, err := countPages(ctx, end)
			if err != nil {
				return "", err
			}
			pages = max(pages, counted)
		}
	}
	if pages == 0 {
		return describe("application/pdf", size), nil
	}
	return fmt.Sprintf("application/pdf, %d pages, %d bytes, which cannot be shown as text", pages, size), nil
}

// countPages is the largest count in a page tree of a part of a file, 0 when
// there is none.
func countPages(ctx context.Context, part []byte) (pages int, err error) {
	count := regexp.MustCompile(`/Count\s{1,9}(\d{1,6})\b`)
	for at := 0; at < len(part); at += pdfPiece {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		piece := part[at:min(len(part), at+pdfPiece+pdfCount)] // no count is cut in all pieces
		for _, m := range count.FindAllSubmatchIndex(piece, -1) {
			if n := number(piece[m[2]:m[3]]); n > pages && ofPages(part, at+m[0], at+m[1]) {
				pages = n
			}
		}
	}
	return pages, nil
}

// ofPages reports whether the dictionary around [start, end) is of a page tree.
func ofPages(part []byte, start, end int) bool {
	before := part[max(0, start-pdfNear):start]
	before = before[bytes.LastIndexByte(before, '>')+1:]
	after, _, _ := bytes.Cut(part[end:min(len(part), end+pdfNear)], []byte(">"))
	for _, side := range [][]byte{before, after} {
		for {
			name, rest, found := bytes.Cut(side, []byte("/Pages"))
			if !found {
				break
			}
			if side = rest; bytes.HasSuffix(bytes.TrimRight(name, " \t\r\n\f"), []byte("/Type")) && !inName(rest) {
				return true
			}
		}
	}
	return false
}

// inName reports that a name goes on.
func inName(rest []byte) bool {
	return len(rest) > 0 && (rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z' || rest[0] >= '0' && rest[0] <= '9' || rest[0] == '_')
}

// number reads digits; none are 0.
func number(digits []byte) int {
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0
	}
	return n
}
