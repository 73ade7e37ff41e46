package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/audit"
	"acp-agent/config"
	"acp-agent/kinds"
	"acp-agent/session"
)

// auditDir is where the records of the sessions' calls are in a data directory.
func auditDir(dataDir string) string { return filepath.Join(dataDir, "audit") }

// audit says where a session's record is kept.
func (c *core) audit(from config.Audit) session.Audit {
	if !from.Enabled {
		return session.Audit{}
	}
	return session.Audit{Dir: auditDir(c.dataDir), MaxBytes: from.MaxBytes}
}

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show and verify the record of what tool calls did",
		Long: `Show and verify the record that is kept of each session's tool calls: what was
asked for, who decided, and which files changed. The records are in
` + "acp-agent/audit" + ` in the data directory, one file a session, each line bound to the
one before it by a hash. docs/configuration.md says how to turn it off.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditShow(), newAuditVerify())
	return cmd
}

func newAuditShow() *cobra.Command {
	var last, asJSON bool
	cmd := &cobra.Command{
		Use:   "show [session]",
		Short: "Print the record of a session, or list the sessions that have one",
		Long: `Print the record of a session, one call a line. Without a session it lists those
that have one, the last written first; --last takes the first of them. With
--json the lines are printed as they stand in the file.`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := pickSessions(args, last, false)
			if err != nil {
				return err
			}
			if len(args) == 0 && !last {
				for _, id := range ids {
					fmt.Fprintln(cmd.OutOrStdout(), id)
				}
				return nil
			}
			for _, id := range ids {
				if err := showAudit(cmd.OutOrStdout(), id, asJSON); err != nil {
					return missingAudit(id, err)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "the session that was written to last")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines of the file")
	return cmd
}

func newAuditVerify() *cobra.Command {
	var last, all bool
	cmd := &cobra.Command{
		Use:   "verify [session]",
		Short: "Check that the record of a session is as it was written",
		Long: `Check that the record of a session is as it was written: no line edited, removed,
added or moved. Without a session, or with --all, every record is checked. A
record that was written anew from its beginning is not noticed.

Exit code: 0 all records hold; 1 one does not, and its line is named; 2 wrong
usage.`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := pickSessions(args, last, all)
			if err != nil {
				return err
			}
			broken := 0
			for _, id := range ids {
				report, err := audit.Verify(auditDir(dataHome()), id)
				if err != nil {
					return missingAudit(id, err)
				}
				if report.Problem != "" {
					broken++
				}
				printReport(cmd.OutOrStdout(), report)
			}
			if broken > 0 {
				return fmt.Errorf("%d of %d records do not hold", broken, len(ids))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "the session that was written to last")
	cmd.Flags().BoolVar(&all, "all", false, "every session (the default without a session)")
	return cmd
}

// pickSessions returns the sessions that a command line names.
func pickSessions(args []string, last, all bool) ([]string, error) {
	if len(args)+count(last)+count(all) > 1 {
		return nil, &exitError{exitUsage, errors.New("name a session, or --last, or --all")}
	}
	if len(args) == 1 {
		return args, nil
	}
	ids, err := audit.Sessions(auditDir(dataHome()))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	switch {
	case err != nil:
		return nil, err
	case last && len(ids) == 0:
		return nil, errors.New("no session has a record yet")
	case last:
		return ids[:1], nil
	}
	return ids, nil
}

func count(set bool) int {
	if set {
		return 1
	}
	return 0
}

func missingAudit(id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no record of a session %q; acp-agent audit show lists the records", id)
	}
	return err
}

func printReport(out io.Writer, r audit.Report) {
	verdict := fmt.Sprintf("ok, %d records", r.Records)
	if r.Problem != "" {
		verdict = fmt.Sprintf("BROKEN at line %d: %s", r.Line, kinds.Visible(r.Problem))
	}
	fmt.Fprintf(out, "%s: %s\n", r.Session, verdict)
	for _, note := range r.Notes {
		fmt.Fprintf(out, "  note: %s\n", note)
	}
}

// showAudit prints the record of a session.
func showAudit(out io.Writer, id string, asJSON bool) error {
	open := map[string]audit.Record{} // calls without an end
	err := audit.Read(auditDir(dataHome()), id, func(r audit.Record, line []byte) error {
		switch {
		case asJSON:
			_, err := fmt.Fprintf(out, "%s\n", line)
			return err
		case r.Event == audit.Begin:
			open[r.Call] = r
			return nil
		case r.Event == audit.End:
			delete(open, r.Call)
		}
		return showRecord(out, r)
	})
	for _, r := range slices.SortedFunc(maps.Values(open), func(a, b audit.Record) int { return cmp.Compare(a.Seq, b.Seq) }) {
		if err == nil {
			r.State = "never ended"
			err = showRecord(out, r)
		}
	}
	return err
}

// showRecord prints one record: a line, and one more for each file that changed.
func showRecord(out io.Writer, r audit.Record) error {
	var b strings.Builder
	switch r.Event {
	case "":
		b.WriteString("(a line that is not a record)\n")
	case audit.Begin, audit.End:
		fmt.Fprintf(&b, "%s  %s%s  %s: %s", r.Time.Format(time.DateTime), subagentPrefix(r.Agent), recordText(r.Tool), cmp.Or(r.Verdict, "not decided"), r.State)
		if r.By != "" {
			fmt.Fprintf(&b, ", by %s", recordText(r.By))
		}
		if reason := cmp.Or(r.Asked, r.Reason); reason != "" {
			fmt.Fprintf(&b, " (%s)", recordText(reason))
		}
		fmt.Fprintf(&b, "  %s\n", compactArgs(r.Args))
		for _, c := range r.Changes {
			fmt.Fprintf(&b, "    %s %s  %s -> %s\n", c.Op, recordText(c.Path), digestName(c.Before, c.Seen), digestName(c.After, c.Seen))
		}
	case audit.Kept:
		fmt.Fprintf(&b, "%s  %s %s: %s, by %s (%s)\n", r.Time.Format(time.DateTime), recordText(r.Tool),
			recordText(strings.Join(r.Touches, ", ")), r.Verdict, recordText(r.By), recordText(r.Reason))
	case audit.Reached:
		by := recordText(cmp.Or(r.Tool, "MCP server "+r.Server))
		fmt.Fprintf(&b, "%s  %s%s reached for %s: %s, by %s", r.Time.Format(time.DateTime), subagentPrefix(r.Agent), by,
			recordText(strings.Join(r.Touches, ", ")), r.Verdict, recordText(r.By))
		if r.Scope != "" {
			fmt.Fprintf(&b, ", %s", map[string]string{"once": "once", "session": "for the session", "project": "for the project"}[r.Scope])
		}
		fmt.Fprintf(&b, " (%s)\n", recordText(r.Reason))
	case audit.Opened, audit.Closed:
		fmt.Fprintf(&b, "%s  %s %s, by %s (%s)\n", r.Time.Format(time.DateTime), r.Event,
			recordText(strings.Join(r.Touches, ", ")), recordText(r.By), recordText(r.Reason))
	default:
		fmt.Fprintf(&b, "%s  %s\n", r.Time.Format(time.DateTime), r.Event)
	}
	_, err := io.WriteString(out, kinds.Visible(b.String()))
	return err
}

// subagentPrefix names the subagent of a call by its path below the main agent; "" is the main
// agent.
func subagentPrefix(agent string) string {
	_, below, _ := strings.Cut(agent, "/")
	if below == "" {
		return ""
	}
	return recordText(strings.ReplaceAll(below, "/", " > ")) + "  "
}

// recordText is one line of a text that a model may have chosen, so that it cannot pose as
// another record.
func recordText(text string) string { return kinds.Line(text, maxRecordText) }

// maxRecordText bounds such a text, in characters.
const maxRecordText = 4096

func compactArgs(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return ""
	}
	return kinds.Line(b.String(), maxShownArgs)
}

// maxShownArgs bounds the arguments on a line, in characters.
const maxShownArgs = 300

// digestName is a hash as it is shown: short, and with words where there is none.
func digestName(hash string, seen bool) string {
	switch {
	case hash != "":
		return hash[:min(12, len(hash))]
	case seen:
		return "?"
	}
	return "-"
}
