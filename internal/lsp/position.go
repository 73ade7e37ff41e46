package lsp

import (
	"strings"
	"unicode/utf8"
)

// position is a place as the protocol counts it: lines and units from zero.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// encoding is what a server counts within a line.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
	utf32Units encoding = "utf-32"
)

// units is how many units a character takes.
func (e encoding) units(r rune) int {
	switch {
	case e == utf32Units:
		return 1
	case e == utf8Units:
		return utf8.RuneLen(r)
	case r > 0xFFFF:
		return 2
	}
	return 1
}

// place turns a line and column, both from 1 and in characters, into a position
// in a text. A column beyond the end of its line means that end.
func (e encoding) place(text string, line, column int) position {
	p := position{Line: max(line-1, 0)}
	for _, r := range lineOf(text, line) {
		if column--; column <= 0 {
			break
		}
		p.Character += e.units(r)
	}
	return p
}

// column is the reverse of place: the column of a position in its line, from 1
// and in characters.
func (e encoding) column(line string, character int) int {
	column := 1
	for _, r := range line {
		if character -= e.units(r); character < 0 {
			break
		}
		column++
	}
	return column
}

// lineOf is a line of a text, from 1, without its end; "" when there is none.
func lineOf(text string, line int) string {
	for ; line > 1; line-- {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return ""
		}
		text = rest
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(text, "\r")
}
