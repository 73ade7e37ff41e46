package patch

import (
	"context"
	"slices"

	"acp-agent/internal/textedit"
)

// index is a text whose lines are numbers, equal ones the same: a hunk with a
// line that the text does not have is refused at a glance, and the others are
// searched for without comparing text.
type index struct {
	numbers map[string]int
	lines   []int
}

func newIndex(ctx context.Context, lines []string) *index {
	x := &index{numbers: map[string]int{}, lines: make([]int, len(lines))}
	for i, line := range lines {
		if i%stride == 0 && ctx.Err() != nil {
			break
		}
		n, known := x.numbers[line]
		if !known {
			n = len(x.numbers)
			x.numbers[line] = n
		}
		x.lines[i] = n
	}
	return x
}

// search finds all places of some lines, at least one.
func (x *index) search(ctx context.Context, lines []string) []int {
	want := make([]int, len(lines))
	for i, line := range lines {
		n, known := x.numbers[line]
		if !known {
			return nil
		}
		want[i] = n
	}
	return slices.Collect(textedit.Occurrences(ctx, x.lines, want, true))
}
