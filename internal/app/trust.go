package app

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/kinds"
	"acp-agent/permissions/projects"
	"acp-agent/session"
	"acp-agent/transcript"
)

// trustFlags are the flags of trust.
type trustFlags struct{ revoke, list, yes, asJSON bool }

func newTrust() *cobra.Command {
	var flags trustFlags
	cmd := &cobra.Command{
		Use:   "trust [dir]",
		Short: "Trust a project, or take that back",
		Long: `Show what trust in a project allows, and ask whether you trust it.

A project that is not trusted can only tighten what the agent may do. In a
trusted one the tools check, format_file and lsp run without a question, the
rules.allow of its .acp-agent/config.jsonc count, and its agents can be given
work. Trust is bound to the directory and to the content of the configuration
that those tools heed and of the agents; when that changes, you are asked again
and shown what changed.

Without a terminal to ask on, --yes answers.`,
		Example: `  acp-agent trust
  acp-agent trust --revoke ~/src/shop
  acp-agent trust --list`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := ""
			if len(args) > 0 {
				dir = args[0]
			}
			switch {
			case flags.list && (flags.revoke || flags.yes || dir != ""):
				return &exitError{exitUsage, errors.New("--list goes with no directory and no other flag but --json")}
			case flags.list:
				return listTrusted(cmd, flags)
			case flags.revoke:
				return distrust(cmd, flags, dir)
			}
			return trust(cmd, flags, dir)
		},
	}
	cmd.Flags().BoolVar(&flags.revoke, "revoke", false, "take the trust back")
	cmd.Flags().BoolVar(&flags.list, "list", false, "list the trusted projects")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	return cmd
}

// trustState is how a project stands, as JSON.
type trustState struct {
	Dir     string `json:"dir"`
	Trusted bool   `json:"trusted"`
	// Since is when it was trusted, Hash what it was trusted with. A project may
	// have them and not be trusted: it changed since.
	Since   time.Time      `json:"since,omitzero"`
	Hash    string         `json:"hash,omitempty"`
	Changes []changeRecord `json:"changes,omitempty"`
	Allows  []string       `json:"allows,omitempty"`
	Problem string         `json:"problem,omitempty"`
}

type changeRecord struct {
	Name string `json:"name"`
	What string `json:"what"`
	Diff string `json:"diff,omitempty"`
}

func changeRecords(changes []projects.Change) []changeRecord {
	var list []changeRecord
	for _, c := range changes {
		list = append(list, changeRecord(c))
	}
	return list
}

func trust(cmd *cobra.Command, flags trustFlags, dir string) error {
	spec := session.Spec{Client: session.Client{Sink: transcript.Discard}}
	return withSession(cmd, dir, spec, false, func(s *session.Session) error {
		offer, err := s.TrustOffer()
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if !offer.Trusted {
			if !flags.asJSON {
				fmt.Fprintf(out, "%s\n", offer.Text())
			}
			if err := agree(cmd, flags); err != nil {
				return err
			}
			if err := s.Trust(offer); err != nil {
				return err
			}
		}
		if flags.asJSON {
			return printJSON(out, trustState{Dir: offer.Dir, Trusted: true, Allows: offer.Allows, Changes: changeRecords(offer.Changes)})
		}
		_, err = fmt.Fprintf(out, "%s is trusted.\n", offer.Dir)
		return err
	})
}

// agree asks on the terminal whether to trust the project. An error is a no.
func agree(cmd *cobra.Command, flags trustFlags) error {
	if flags.yes {
		return nil
	}
	sure, err := confirm(cmd, "Trust this project?", "read what trust allows and run it again with --yes")
	if err == nil && !sure {
		err = errors.New("not trusted")
	}
	return err
}

// distrust needs no session, so that it works whatever is wrong with the
// configuration, and for a directory that is gone.
func distrust(cmd *cobra.Command, flags trustFlags, dir string) error {
	path, err := projects.Canonical(dir)
	if err != nil {
		path = dir
	}
	had := false
	err = storeOf(cmd).Update(path, func(r *projects.Record) error {
		had = r.RemoveTrust()
		return nil
	})
	switch {
	case err != nil:
		return err
	case flags.asJSON:
		return printJSON(cmd.OutOrStdout(), trustState{Dir: path})
	}
	text := "is not trusted any more"
	if !had {
		text = "was not trusted"
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s.\n", path, text)
	return err
}

func listTrusted(cmd *cobra.Command, flags trustFlags) error {
	records, err := storeOf(cmd).All()
	if err != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "acp-agent:", kinds.Visible(err.Error())) // the others are listed
	}
	states := []trustState{}
	for _, record := range records {
		if record.Trust == nil {
			continue
		}
		state := trustState{Dir: record.Path, Since: record.Trust.At, Hash: record.Trust.Hash}
		now, err := projects.Scan(record.Path)
		if err != nil {
			state.Problem = err.Error()
		} else {
			state.Trusted = record.Trusts(now)
			state.Changes = changeRecords(projects.Changes(record.Trust.Files, now.Files))
		}
		states = append(states, state)
	}
	if flags.asJSON {
		return printJSON(cmd.OutOrStdout(), states)
	}
	if len(states) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "No project is trusted.")
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, state := range states {
		how := "trusted"
		switch {
		case state.Problem != "":
			how = "not trusted: " + kinds.Line(state.Problem, 200)
		case !state.Trusted:
			how = fmt.Sprintf("not trusted: changed since (%d files)", len(state.Changes))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", kinds.Visible(state.Dir), state.Since.Format(time.DateTime), how)
	}
	return table.Flush()
}

// storeOf is the store of decisions, without the rest of the agent.
func storeOf(cmd *cobra.Command) *projects.Store {
	core := newCore(cmd.ErrOrStderr())
	defer core.Close()
	return core.projects()
}
