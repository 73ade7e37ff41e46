package builtin

import (
	"math"

	"acp-agent/tools"
)

// lineRange checks read_range and bounds it (R23, R26).
func lineRange(given []float64) ([2]int, error) {
	if given == nil {
		return [2]int{1, defaultLines}, nil
	}
	start, end, err := wholePair("read_range", given)
	if err != nil {
		return [2]int{}, err
	}
	start = max(start, 1)
	if end < start {
		return [2]int{}, tools.Errorf(tools.BadInput, "read: read_range [%v, %v] ends before it starts", given[0], given[1])
	}
	end = min(end, start+maxLines-1)
	return [2]int{int(start), int(end)}, nil
}

// byteRange checks byte_range; nil when there is none.
func byteRange(given []float64) (*[2]int64, error) {
	if given == nil {
		return nil, nil
	}
	start, end, err := wholePair("byte_range", given)
	if err != nil {
		return nil, err
	}
	start = max(start, 0)
	if end <= start {
		return nil, tools.Errorf(tools.BadInput, "read: byte_range [%v, %v] is empty", given[0], given[1])
	}
	return &[2]int64{start, end}, nil
}

// maxWhole bounds numbers in ranges far above any file and far below overflow.
const maxWhole = 1 << 50

func wholePair(name string, given []float64) (start, end int64, err error) {
	if len(given) != 2 || given[0] != math.Trunc(given[0]) || given[1] != math.Trunc(given[1]) {
		return 0, 0, tools.Errorf(tools.BadInput, "read: %s must be two whole numbers", name)
	}
	return int64(max(min(given[0], maxWhole), -maxWhole)), int64(max(min(given[1], maxWhole), -maxWhole)), nil
}

// count checks a number of things, which JSON gives as any number.
func count(name string, given *float64, otherwise int) (int, error) {
	if given == nil {
		return otherwise, nil
	}
	if *given != math.Trunc(*given) || *given < 0 {
		return 0, tools.Errorf(tools.BadInput, "glob: %s must be a whole number, 0 or more, not %v", name, *given)
	}
	return int(min(*given, maxWhole)), nil
}
