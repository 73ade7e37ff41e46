package commands

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPrompt bounds a filled in text, in bytes: a small file can use a long argument many times.
const maxPrompt = 1 << 20

var errTooLong = errors.New("with these arguments its text is longer than 1 MiB")

// Fill returns the text of the command with its placeholders replaced by what was typed after its name.
// Placeholders in what was typed are not replaced.
//
//   - $ARGUMENTS is all that was typed, unchanged.
//   - $1 is the first argument, $2 the second, and so on. A file that uses $0, $ARGUMENTS[0] or named
//     arguments counts from zero instead: Claude Code documents that now, and counted from one before.
//     In opencode's layout the first is always $1, and the highest number has all further arguments.
//   - The placeholder of a missing argument stays; in opencode's layout it is empty.
//   - If no placeholder was replaced, what was typed follows the text.
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

// filler fills in the text of one command.
type filler struct {
	Command
	typed     string
	arguments []string
	first     int // the number of the first argument
	highest   int // the highest number in the text
	text      strings.Builder
	used      bool // a placeholder was replaced
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

// placeholder writes the value of the placeholder at the beginning of a text, or only the dollar if it
// is no placeholder. It returns the text after what it has replaced.
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

// put writes argument i in place of the placeholder at the beginning of text, which is length bytes long.
// If the argument is missing, the placeholder stays; in opencode's layout it is removed.
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

// number parses the digits of $1. length is 0 when it is no number: it has more than three digits, or is
// the beginning of a word such as $5k.
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

// index parses the [0] of $ARGUMENTS[0], which opencode does not have. length is 0 when it is none.
func (f *filler) index(text string) (index, length int) {
	digits, _, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	index, err := strconv.Atoi(digits)
	if !strings.HasPrefix(text, "[") || !ok || err != nil || index < 0 || len(digits) > 3 || f.layout == opencodeLayout {
		return 0, 0
	}
	return index, len(digits) + 2
}

// startsWord reports whether a text begins with a character of a word.
func startsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '_' || unicode.IsLetter(r) && r != utf8.RuneError || unicode.IsDigit(r)
}
