package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// maxTyped bounds one line that a user types, in bytes.
const maxTyped = 16 << 10

// errNothingTyped is the end of input in place of an answer.
var errNothingTyped = errors.New("no answer; nothing was stored")

// prompter asks a user in a terminal. Each question takes a goroutine that reads; it ends
// with the line, or after an interrupt with the process.
type prompter struct {
	in  *os.File
	out io.Writer
}

// terminalOf returns the terminal of a command's input, or false.
func terminalOf(in io.Reader, out io.Writer) (prompter, bool) {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return prompter{}, false
	}
	return prompter{file, out}, true
}

// line asks for a line; an empty one means fallback.
func (p prompter) line(ctx context.Context, question, fallback string) (string, error) {
	if fallback != "" {
		question += " [" + fallback + "]"
	}
	fmt.Fprint(p.out, question+": ")
	text, err := p.read(ctx, false)
	if err == nil && text == "" {
		text = fallback
	}
	return text, err
}

// secret asks for a line that is not shown. The terminal is back in its state before when
// secret returns, whatever ended the question.
func (p prompter) secret(ctx context.Context, question string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", interrupted(p.out)
	}
	fd := int(p.in.Fd())
	// In raw mode Ctrl-C arrives as a character. The question comes after the change of the
	// terminal, which shows what is typed before.
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("the terminal cannot hide what is typed: %w", err)
	}
	fmt.Fprint(p.out, question+": ")
	text, err := p.read(ctx, true)
	if restoreErr := term.Restore(fd, before); restoreErr != nil && err == nil {
		err = fmt.Errorf("the terminal does not show what is typed any more (run stty sane): %w", restoreErr)
	}
	fmt.Fprintln(p.out)
	return text, err
}

// read reads a line byte by byte: what is typed ahead belongs to the next question.
func (p prompter) read(ctx context.Context, raw bool) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // ends with the line, or with the process
		text, err := readTyped(p.in, raw)
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		if errors.Is(a.err, context.Canceled) {
			return "", interrupted(nil)
		}
		return strings.TrimSpace(a.text), a.err
	case <-ctx.Done():
		return "", interrupted(p.out)
	}
}

// interrupted is the error after Ctrl-C.
func interrupted(out io.Writer) error {
	if out != nil {
		fmt.Fprintln(out)
	}
	return &exitError{exitCancelled, errors.New("interrupted; nothing was stored")}
}

// readTyped reads one line. In raw mode it understands what a terminal would: erase, clear,
// interrupt, end.
func readTyped(in io.Reader, raw bool) (string, error) {
	const ctrlC, ctrlD, backspace, ctrlU, del = 3, 4, 8, 21, 127
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxTyped {
		if n, err := in.Read(one); n == 0 {
			if err == nil {
				continue
			}
			if errors.Is(err, io.EOF) && len(line) > 0 {
				return string(line), nil
			}
			return "", errNothingTyped
		}
		switch c := one[0]; {
		case c == '\n' || raw && c == '\r':
			return string(line), nil
		case raw && c == ctrlC:
			return "", context.Canceled
		case raw && c == ctrlD && len(line) == 0:
			return "", errNothingTyped
		case raw && (c == backspace || c == del):
			line = line[:max(0, len(line)-1)]
		case raw && c == ctrlU:
			line = line[:0]
		default:
			line = append(line, c)
		}
	}
	return "", fmt.Errorf("a line of more than %d KiB is not read", maxTyped>>10)
}
