package app

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/transcript"
)

// listFlags are the flags of permissions list and permissions revoke.
type listFlags struct {
	cwd    string
	asJSON bool
}

func (f *listFlags) add(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "directory of the project (default: the current one)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func newPermissionsList() *cobra.Command {
	var flags listFlags
	return flags.add(&cobra.Command{
		Use:   "list",
		Short: "List the rules in force: scope, where each stands, when it was added",
		Long: `List the rules that a session in the current directory begins with. Those with
a number were kept by "Allow for this project"; permissions revoke takes them
back. The others stand in a file, which is named, or are shipped.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withRules(cmd, flags.cwd, func(_ *session.Session, rules []session.ListedRule) error {
				if flags.asJSON {
					return printJSON(cmd.OutOrStdout(), ruleRecords(rules))
				}
				return printRules(cmd.OutOrStdout(), rules)
			})
		},
	})
}

func newRevoke() *cobra.Command {
	var flags listFlags
	return flags.add(&cobra.Command{
		Use:   "revoke <number>",
		Short: "Take a rule back that was kept for the project",
		Long: `Take a rule back that "Allow for this project" kept; permissions list has the
numbers. Sessions that are open follow with their next prompt.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runRevoke(cmd, flags, args[0]) },
	})
}

func runRevoke(cmd *cobra.Command, flags listFlags, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return &exitError{exitUsage, fmt.Errorf("%q is not the number of a rule; acp-agent permissions list has them", number)}
	}
	return withRules(cmd, flags.cwd, func(s *session.Session, rules []session.ListedRule) error {
		i := slices.IndexFunc(rules, func(r session.ListedRule) bool { return r.Number == n })
		if i < 0 {
			return fmt.Errorf("there is no rule with the number %d; acp-agent permissions list has them", n)
		}
		if err := s.Revoke(rules[i]); err != nil {
			return err
		}
		record := ruleRecords(rules[i : i+1])[0]
		if flags.asJSON {
			return printJSON(cmd.OutOrStdout(), record)
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "Revoked: %s %s %s\n", record.Action, record.Permission, kinds.Visible(record.Pattern))
		return err
	})
}

// withRules opens a session without a model and hands over its rules.
func withRules(cmd *cobra.Command, cwd string, do func(*session.Session, []session.ListedRule) error) error {
	spec := session.Spec{Client: session.Client{Sink: transcript.Discard}}
	return withSession(cmd, cwd, spec, false, func(s *session.Session) error { return do(s, s.Rules()) })
}

// ruleRecord is a rule as JSON.
type ruleRecord struct {
	Number     int       `json:"number,omitempty"`
	Scope      string    `json:"scope"`
	Action     string    `json:"action"`
	Permission string    `json:"permission"`
	Pattern    string    `json:"pattern"`
	Source     string    `json:"source"`
	For        string    `json:"for,omitempty"` // the program whose network the rule is about, where it is not that of commands
	AddedAt    time.Time `json:"added_at,omitzero"`
}

func ruleRecords(rules []session.ListedRule) []ruleRecord {
	list := []ruleRecord{}
	for _, l := range rules {
		pattern := l.Rule.Pattern
		if pattern == "" {
			pattern = "*"
		}
		record := ruleRecord{
			Number: l.Number, Scope: l.Scope.String(), Action: l.Rule.Action.String(), Permission: l.Rule.Permission,
			Pattern: pattern, Source: l.Where(), AddedAt: l.Rule.AddedAt,
		}
		if l.Rule.Permission == permissions.NetworkTool {
			record.For = l.Rule.For.OriginName
		}
		list = append(list, record)
	}
	return list
}

func printRules(out io.Writer, rules []session.ListedRule) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "#\tSCOPE\tACTION\tPERMISSION\tPATTERN\tWHERE\tSINCE")
	for _, r := range ruleRecords(rules) {
		number, since := "-", "-"
		if r.Number > 0 {
			number = strconv.Itoa(r.Number)
		}
		if !r.AddedAt.IsZero() {
			since = r.AddedAt.Format(time.RFC3339)
		}
		where := kinds.Visible(r.Source)
		if r.For != "" {
			where += ", for " + kinds.Visible(r.For)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", number, r.Scope, r.Action, kinds.Visible(r.Permission), kinds.Line(r.Pattern, 200), where, since)
	}
	return table.Flush()
}
