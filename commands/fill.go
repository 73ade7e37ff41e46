package commands

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPrompt bounds a text with its arguments, in bytes: a small file can name a long argument
// often.
const maxPrompt = 1 << 20

var errTooLong = errors.New("with these arguments its text is longer than 1 MiB")

// Fill returns the text of the command with what was typed after its name. What was typed is not
// looked through for placeholders again.
//
//   - $ARGUMENTS is all of it, as it was typed.
//   - $1 is the first argument, $2 the second, and so on. A file that uses $0, $ARGUMENTS[0] or
//     named arguments counts from zero instead, as Claude Code documents it: files of both ages
//     work. In opencode's layout the first is always $1, and the highest takes all that follows.
//   - An argument that is missing stays as it is written; in opencode's layout it is empty.
//   - What was typed and not put in anywhere follows the text.
func (c Command) Fill(typed string) (string, error) {
	f := c.filler(typed)
	rest := c.body
	for rest != "" && f.text.Len() <= maxPrompt {
		at := strings.IndexByte(rest, '$')
		if at < 0 {
			break
		}
		f.text.WriteString(rest[:at])
		rest = f.placeholder(rest[at:])
	}
	f.text.WriteString(rest)
	if !f.used && typed != "" {
		f.text.WriteString("\n\n")
		if c.layout == claudeLayout {
			f.text.WriteString("ARGUMENTS: ")
		}
		f.text.WriteString(typed)
	}
	if f.text.Len() > maxPrompt {
		return "", errTooLong
	}
	return f.text.String(), nil
}

// filler fills in one text.
type filler struct {
	Command
	typed     string
	arguments []string
	first     int // the number of the first argument
	highest   int // the highest number in the text
	text      strings.Builder
	used      bool
}

func (c Command) filler(typed string) *filler {
	f := &filler{Command: c, typed: typed, arguments: split(typed), first: 1}
	for rest := c.body; ; {
		at := strings.IndexByte(rest, '$')
		if at < 0 {
			break
		}
		rest = rest[at+1:]
		number, length := f.number(rest)
		if length > 0 {
			f.highest = max(f.highest, number)
		}
		if c.layout != opencodeLayout && (length > 0 && number == 0 || strings.HasPrefix(rest, all+"[") || len(c.names) > 0) {
			f.first = 0
		}
	}
	return f
}

// all is the name of the placeholder for everything that was typed.
const all = "ARGUMENTS"

// placeholder writes what stands for the placeholder at the beginning of a text, or its dollar
// where there is none, and returns the text after it.
func (f *filler) placeholder(text string) (rest string) {
	name := text[1:]
	if after, ok := strings.CutPrefix(name, all); ok {
		if index, length := f.index(after); length > 0 {
			return f.put(index, text, 1+len(all)+length)
		}
		f.used = true
		f.text.WriteString(f.typed)
		return after
	}
	if number, length := f.number(name); length > 0 {
		return f.put(number-f.first, text, 1+length)
	}
	for i, argument := range f.names {
		if after, ok := strings.CutPrefix(name, argument); ok && !startsWord(after) {
			return f.put(i, text, 1+len(argument))
		}
	}
	f.text.WriteByte('$')
	return name
}

// put writes an argument for the placeholder of the given length. Where there is none it stays,
// or goes in opencode's layout.
func (f *filler) put(i int, text string, length int) (rest string) {
	switch {
	case i < 0 || i >= len(f.arguments) && f.layout != opencodeLayout:
		f.text.WriteString(text[:length])
	case i >= len(f.arguments):
		f.used = true
	case f.layout == opencodeLayout && i == f.highest-1:
		f.used = true
		f.text.WriteString(strings.Join(f.arguments[i:], " "))
	default:
		f.used = true
		f.text.WriteString(f.arguments[i])
	}
	return text[length:]
}

// number reads the digits of $1; no more than three, or a word that begins with digits, such as
// $5k, are none.
func (f *filler) number(text string) (number, length int) {
	for length < len(text) && text[length] >= '0' && text[length] <= '9' {
		length++
	}
	if length == 0 || length > 3 || f.layout != opencodeLayout && startsWord(text[length:]) {
		return 0, 0
	}
	number, _ = strconv.Atoi(text[:length])
	return number, length
}

// index reads the [0] of $ARGUMENTS[0], which opencode does not know.
func (f *filler) index(text string) (index, length int) {
	digits, _, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	index, err := strconv.Atoi(digits)
	if !strings.HasPrefix(text, "[") || !ok || err != nil || index < 0 || len(digits) > 3 || f.layout == opencodeLayout {
		return 0, 0
	}
	return index, len(digits) + 2
}

// startsWord reports whether a text goes on with a word.
func startsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '_' || unicode.IsLetter(r) && r != utf8.RuneError || unicode.IsDigit(r)
}
