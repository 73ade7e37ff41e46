package app

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

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
		sure, err := confirm(cmd, "Delete "+what+"?", "run it again with --yes")
		if err != nil {
			return err
		}
		if !sure {
			return errors.New("not deleted")
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
