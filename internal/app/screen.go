package app

import (
	"io"
	"os"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// screen is what the output of a command is shown on.
type screen struct {
	// columns is the width of the terminal; 0 is none, such as a pipe or a file.
	columns int
	color   bool
}

func screenOf(out io.Writer) screen {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return screen{}
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	return screen{columns: columns, color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// style writes text in a style of the terminal, where there is colour.
func (s screen) style(sgr, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// fit cuts one line of text to a number of columns.
func fit(text string, columns int) string {
	used := 0
	for i, r := range text {
		w := 1
		if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
			w = 2
		}
		if used+w > columns {
			return cutTo(text[:i], columns)
		}
		used += w
	}
	return text
}

// cutTo ends a text that was cut with an ellipsis, which takes the place of its last character.
func cutTo(text string, columns int) string {
	runes := []rune(text)
	if len(runes) == 0 || columns <= 0 {
		return ""
	}
	return string(runes[:len(runes)-1]) + "…"
}
