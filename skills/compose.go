package skills

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"acp-agent/kinds"
)

const (
	// maxInstructions bounds the text of all instruction files: 8,000 tokens of
	// 4 bytes (R86).
	maxInstructions = 32_000
	// minPiece is the least of a file that is worth showing alone.
	minPiece = 200
)

// compose joins the blocks, nearest last. What is too much is taken from the
// head.
func (r *reading) compose() Instructions {
	const note = "[%d instruction files from further out are left out: all together may have %d bytes]\n\n"
	room := maxInstructions - len(note) - 20
	var parts []string
	var result Instructions
	left := len(r.blocks)
	for i := len(r.blocks) - 1; i >= 0; i-- {
		b := &r.blocks[i]
		text, whole := b.frame(room)
		if text == "" {
			break
		}
		if !whole {
			r.warn.add(b.path, "its beginning is left out: instructions may have %d bytes together", maxInstructions)
		}
		left, room = i, room-len(text)
		parts = append(parts, text)
		result.Files = append(result.Files, b.files...)
		if !whole {
			break
		}
	}
	for _, b := range r.blocks[:left] {
		r.warn.add(b.path, "is left out: instructions may have %d bytes together", maxInstructions)
	}
	if left > 0 {
		parts = append(parts, fmt.Sprintf(note, left, maxInstructions))
	}
	slices.Reverse(parts)
	slices.Sort(result.Files)
	result.Files = slices.Compact(result.Files)
	result.Text = strings.Join(parts, "")
	return result
}

// frame is the block as the model reads it in at most room bytes, "" when too
// little of it would be left; whole is false when its head is missing.
func (b *block) frame(room int) (text string, whole bool) {
	const marker = "[the beginning of this file is left out: it is too long]\n"
	open := fmt.Sprintf("<instructions file=%q>\n", kinds.Line(b.path, 1000))
	const end = "\n</instructions>\n\n"
	body := closed(b.text, "instructions")
	if !b.cut && len(open)+len(body)+len(end) <= room {
		return open + body + end, true
	}
	room -= len(open) + len(marker) + len(end)
	if room < minPiece {
		return "", false
	}
	return open + marker + lastBytes(body, room) + end, false
}

// closed escapes what would close a frame early, however it is spelled.
func closed(text, frame string) string {
	end := regexp.MustCompile(`(?i)<(\s*/\s*` + frame + `)`)
	return end.ReplaceAllString(text, "&lt;$1")
}

// lastBytes returns at most limit bytes from the end, beginning with a whole line,
// or with a whole character where a line is longer.
func lastBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	kept := strings.ToValidUTF8(text[len(text)-limit:], "")
	if _, rest, ok := strings.Cut(kept, "\n"); ok && rest != "" {
		return rest
	}
	return kept
}
