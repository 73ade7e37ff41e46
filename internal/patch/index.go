package patch

// index is a text whose lines are numbers, equal ones the same: a hunk with a
// line that the text does not have is refused at a glance, and the others are
// searched for without comparing text.
type index struct {
	numbers map[string]int
	lines   []int
}

func newIndex(lines []string) *index {
	x := &index{numbers: map[string]int{}, lines: make([]int, len(lines))}
	for i, line := range lines {
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
func (x *index) search(lines []string) []int {
	want := make([]int, len(lines))
	for i, line := range lines {
		n, known := x.numbers[line]
		if !known {
			return nil
		}
		want[i] = n
	}
	return places(x.lines, want)
}

// places finds want in have, in time linear in both (Knuth, Morris and Pratt).
func places(have, want []int) []int {
	fall := make([]int, len(want))
	for i, k := 1, 0; i < len(want); i++ {
		for k > 0 && want[i] != want[k] {
			k = fall[k-1]
		}
		if want[i] == want[k] {
			k++
		}
		fall[i] = k
	}
	var found []int
	for i, k := 0, 0; i < len(have); i++ {
		for k > 0 && have[i] != want[k] {
			k = fall[k-1]
		}
		if have[i] == want[k] {
			k++
		}
		if k == len(want) {
			found = append(found, i+1-k)
			k = fall[k-1]
		}
	}
	return found
}
