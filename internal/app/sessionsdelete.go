package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"acp-agent/kinds"
	"acp-agent/store"
)

func newSessionsDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete <session>...",
		Short: "Delete stored conversations",
		Long: `Delete stored conversations, with those of their subagents. One that a process
has open is not deleted, and the process is named. The record of what tool calls
did stays: acp-agent audit.

Each conversation is asked about; without a terminal to ask on, --yes answers.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withArchive(cmd, func(a *archive) error {
				var ids []string
				for _, arg := range args { // all are found before the first is deleted
					id, err := a.pick([]string{arg}, false)
					if err != nil {
						return err
					}
					ids = append(ids, id)
				}
				for _, id := range ids {
					if err := a.delete(cmd, id, yes); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *archive) delete(cmd *cobra.Command, id string, yes bool) error {
	st, err := a.Load(id)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s, %q, %s", id, shownName(st.Info), kinds.Count(st.Info.Turns, "turn"))
	if !yes {
		if err := confirm(cmd, "Delete "+what+"? [y/N] "); err != nil {
			return err
		}
	}
	err = a.Delete(id)
	if busy, ok := errors.AsType[*store.BusyError](err); ok {
		return fmt.Errorf("not deleted: %w", busy)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), "Deleted "+what+".")
	return err
}

// confirm asks on the terminal.
func confirm(cmd *cobra.Command, question string) error {
	file, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &exitError{exitUsage, errors.New("there is no terminal to ask on: run it again with --yes")}
	}
	fmt.Fprint(cmd.ErrOrStderr(), question)
	line, err := bufio.NewReader(file).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return nil
	}
	return errors.New("not deleted")
}
