package ansi

import (
	"strconv"
	"strings"
)

// Color is one of a terminal's sixteen colours. The zero value is the terminal's own.
type Color uint8

// The colours. Those from Bright on are the bright ones of the same order.
const (
	Default Color = iota
	Black
	Red
	Green
	Yellow
	Blue
	Magenta
	Cyan
	White
	Bright
)

// Colors is how many there are besides Default.
const Colors = 16

// levels are the colours of the palette as red, green and blue.
var levels = [Colors][3]int{
	{0, 0, 0},
	{205, 0, 0},
	{0, 205, 0},
	{205, 205, 0},
	{0, 0, 238},
	{205, 0, 205},
	{0, 205, 205},
	{229, 229, 229},
	{127, 127, 127},
	{255, 0, 0},
	{0, 255, 0},
	{255, 255, 0},
	{92, 92, 255},
	{255, 0, 255},
	{0, 255, 255},
	{255, 255, 255},
}

// apply changes the style as the parameters of an SGR sequence say. What it does not know it
// passes over.
func (s *Style) apply(parameters string) {
	if strings.Trim(parameters, "0123456789;:") != "" {
		return // a private sequence
	}
	fields := strings.Split(parameters, ";")
	for i := 0; i < len(fields); i++ {
		switch code, sub, colons := strings.Cut(fields[i], ":"); {
		case code == "38" || code == "48":
			var color Color
			if colons {
				color = colorOf(withoutSpace(strings.Split(sub, ":")))
			} else {
				used := extended(fields[i+1:])
				color = colorOf(fields[i+1 : i+1+used])
				i += used
			}
			if code == "38" {
				s.Foreground = color
			} else {
				s.Background = color
			}
		case code == "4" && sub == "0":
			s.Underline = false
		default:
			s.set(number(code))
		}
	}
}

// set applies one code that stands alone.
func (s *Style) set(code int) {
	switch code {
	case 0:
		*s = Style{}
	case 1:
		s.Bold = true
	case 2:
		s.Dim = true
	case 3:
		s.Italic = true
	case 4, 21:
		s.Underline = true
	case 7:
		s.Inverse = true
	case 9:
		s.Strike = true
	case 22:
		s.Bold, s.Dim = false, false
	case 23:
		s.Italic = false
	case 24:
		s.Underline = false
	case 27:
		s.Inverse = false
	case 29:
		s.Strike = false
	case 39:
		s.Foreground = Default
	case 49:
		s.Background = Default
	}
	switch {
	case code >= 30 && code <= 37:
		s.Foreground = Black + Color(code-30)
	case code >= 40 && code <= 47:
		s.Background = Black + Color(code-40)
	case code >= 90 && code <= 97:
		s.Foreground = Bright + Color(code-90)
	case code >= 100 && code <= 107:
		s.Background = Bright + Color(code-100)
	}
}

// number is 0 for an empty parameter, and -1 for one that no code has.
func number(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// extended is how many parameters after 38 or 48 belong to it.
func extended(fields []string) int {
	switch {
	case len(fields) > 0 && fields[0] == "5":
		return min(2, len(fields))
	case len(fields) > 0 && fields[0] == "2":
		return min(4, len(fields))
	}
	return min(1, len(fields))
}

// withoutSpace takes the colour space out of the form with colons: 2::r:g:b.
func withoutSpace(fields []string) []string {
	if len(fields) == 5 && fields[0] == "2" {
		return append([]string{"2"}, fields[2:]...)
	}
	return fields
}

// colorOf is the nearest colour of the palette to "5;n" or "2;r;g;b".
func colorOf(fields []string) Color {
	var n []int
	for _, field := range fields {
		value := number(field)
		if value < 0 || value > 255 {
			return Default
		}
		n = append(n, value)
	}
	switch {
	case len(n) == 2 && n[0] == 5:
		return indexed(n[1])
	case len(n) == 4 && n[0] == 2:
		return nearest(n[1], n[2], n[3])
	}
	return Default
}

// indexed is a colour of the 256.
func indexed(n int) Color {
	switch {
	case n < Colors:
		return Black + Color(n)
	case n >= 232:
		grey := 8 + 10*(n-232)
		return nearest(grey, grey, grey)
	}
	n -= Colors
	level := func(step int) int {
		if step == 0 {
			return 0
		}
		return 55 + 40*step
	}
	return nearest(level(n/36), level(n/6%6), level(n%6))
}

func nearest(red, green, blue int) Color {
	best, least := 0, 1<<30
	for i, c := range levels {
		r, g, b := c[0]-red, c[1]-green, c[2]-blue
		if d := r*r + g*g + b*b; d < least {
			best, least = i, d
		}
	}
	return Black + Color(best)
}
