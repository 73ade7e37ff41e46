package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// typedLines reads the lines that the user types, for one question after the other. A program has one for each
// input, since a read of a terminal cannot be stopped: a question that ends before its line leaves the reader waiting.
type typedLines struct {
	in    io.Reader
	start sync.Once
	lines chan typedLine // closed at the end of the input
	// expired says that the last question ended before its line, which then answers no other one.
	expired bool
}

// typedLine is a line, or what comes before the end of the input, with the error that ended it.
type typedLine struct {
	text string
	err  error
}

// ask shows a question and returns the line that is typed in answer. The error is the cause of a context that
// ended first, or that of the input.
func (l *typedLines) ask(ctx context.Context, question func()) (string, error) {
	l.start.Do(func() {
		l.lines = make(chan typedLine)
		go l.read() // ends with the input, or with the process
	})
	if l.expired {
		select {
		case <-l.lines: // it was typed for the last question
		default:
		}
	}
	question()
	select {
	case line, ok := <-l.lines:
		l.expired = false
		if !ok {
			return "", io.EOF
		}
		return line.text, line.err
	case <-ctx.Done():
		l.expired = true
		return "", context.Cause(ctx)
	}
}

func (l *typedLines) read() {
	defer close(l.lines)
	in := bufio.NewReader(l.in)
	for {
		text, err := in.ReadString('\n')
		l.lines <- typedLine{text, err}
		if err != nil {
			return
		}
	}
}

// userInterrupted is how a program ends that the user interrupted at the terminal.
func userInterrupted(out io.Writer) error {
	fmt.Fprintln(out) // the shell's prompt stands on a line of its own
	return &exitError{exitCancelled, errors.New("interrupted")}
}
