package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// confirm asks a question on the terminal; the end of the input is a no, and an
// interrupt an error. Without a terminal it is an error, which says what to do instead.
func confirm(cmd *cobra.Command, question, instead string) (bool, error) {
	file, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return false, &exitError{exitUsage, errors.New("there is no terminal to ask on: " + instead)}
	}
	typed := typedLines{in: file}
	line, err := typed.ask(cmd.Context(), func() { fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ") })
	switch {
	case cmd.Context().Err() != nil:
		return false, userInterrupted(cmd.ErrOrStderr())
	case err != nil && !errors.Is(err, io.EOF):
		return false, err
	}
	return saysYes(line), nil
}

// saysYes reports whether a typed line is a yes; anything else is a no.
func saysYes(line string) bool {
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
