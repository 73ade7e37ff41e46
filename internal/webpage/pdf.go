package webpage

import (
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
	// pdfGap bounds what may stand between a mark and its number, pdfMark both
	// together with the words around them.
	pdfGap  = 400
	pdfMark = 2 * pdfGap
)

// describePDF names the pages when they can be read without unpacking: from the
// mark of a file made for the web, or from the largest count in a page tree at
// one of the file's ends. The error is that of ctx.
func describePDF(ctx context.Context, body []byte, size int) (string, error) {
	gap := fmt.Sprintf(`[^>]{0,%d}?`, pdfGap)
	linear := regexp.MustCompile(`/Linearized\b` + gap + `/N\s{1,9}(\d{1,6})\b`)
	pages := 0
	if m := linear.FindSubmatch(body[:min(len(body), 1024)]); m != nil {
		pages = number(m[1])
	} else {
		tree := regexp.MustCompile(`/Type\s{0,9}/Pages\b` + gap + `/Count\s{1,9}(\d{1,6})\b|` +
			`/Count\s{1,9}(\d{1,6})\b` + gap + `/Type\s{0,9}/Pages\b`)
		for _, piece := range pdfPieces(body) {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			for _, m := range tree.FindAllSubmatch(piece, -1) {
				pages = max(pages, number(m[1]), number(m[2]))
			}
		}
	}
	if pages == 0 {
		return describe("application/pdf", size), ctx.Err()
	}
	return fmt.Sprintf("application/pdf, %d pages, %d bytes, which cannot be shown as text", pages, size), ctx.Err()
}

// pdfPieces are the two ends of a file, piece by piece. Pieces overlap, so that
// no mark is cut in all of them.
func pdfPieces(body []byte) (pieces [][]byte) {
	cut := func(part []byte) {
		for at := 0; at < len(part); at += pdfPiece {
			pieces = append(pieces, part[at:min(len(part), at+pdfPiece+pdfMark)])
		}
	}
	if len(body) <= 2*pdfEnds {
		cut(body)
		return pieces
	}
	cut(body[:pdfEnds])
	cut(body[len(body)-pdfEnds:])
	return pieces
}

// number reads digits; none are 0.
func number(digits []byte) int {
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0
	}
	return n
}
