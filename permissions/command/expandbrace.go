package command

import (
	"slices"
	"strconv"
	"strings"
)

// braces expands "{a,b}" and "{1..3}" and leaves other braces as they are. ok is false for a sequence
// of another form, or one that is too long.
func braces(chars []char) (out [][]char, ok bool) {
	for from := range chars {
		if chars[from] != (char{b: '{'}) {
			continue
		}
		to, commas := closing(chars, from)
		if to < 0 {
			continue
		}
		list, ok := items(chars[from+1:to], from+1, commas)
		if !ok {
			return nil, false
		}
		if list == nil {
			continue
		}
		rests, ok := braces(chars[to+1:])
		if !ok || len(list)*len(rests) > maxFields {
			return nil, false
		}
		for _, item := range list {
			for _, rest := range rests {
				out = append(out, slices.Concat(chars[:from], item, rest))
			}
		}
		return out, true
	}
	return [][]char{chars}, true
}

// items returns what a pair of braces stands for. inside begins at offset from, and commas are the
// offsets of the commas that divide it. No items means that the braces are ordinary characters.
func items(inside []char, from int, commas []int) (list [][]char, ok bool) {
	if len(commas) == 0 {
		if strings.Contains(stringOf(inside), "..") {
			list = sequence(inside)
			return list, list != nil
		}
		return nil, true
	}
	start := 0
	for _, end := range append(commas, from+len(inside)) {
		part, ok := braces(inside[start : end-from])
		if list = append(list, part...); !ok || len(list) > maxFields {
			return nil, false
		}
		start = end - from + 1
	}
	return list, true
}

// closing finds the end of a brace, and the commas on its own level.
func closing(chars []char, from int) (to int, commas []int) {
	depth := 0
	for i := from; i < len(chars); i++ {
		switch chars[i] {
		case char{b: '{'}:
			depth++
		case char{b: ','}:
			if depth == 1 {
				commas = append(commas, i)
			}
		case char{b: '}'}:
			if depth--; depth == 0 {
				return i, commas
			}
		}
	}
	return -1, nil
}

// sequence returns the items of "{1..9}": plain numbers only.
func sequence(chars []char) [][]char {
	first, last, ok := strings.Cut(stringOf(chars), "..")
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if !ok || err1 != nil || err2 != nil || strconv.Itoa(from) != first || strconv.Itoa(to) != last || max(from-to, to-from) >= maxFields {
		return nil
	}
	step := 1
	if to < from {
		step = -1
	}
	var out [][]char
	for n := from; ; n += step {
		if out = append(out, inert(strconv.Itoa(n))); n == to {
			return out
		}
	}
}
