package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"acp-agent/export"
	"acp-agent/session"
	"acp-agent/store"
)

func newSessionsShow() *cobra.Command {
	var last, everything, thoughts, steps bool
	cmd := &cobra.Command{
		Use:   "show [session]",
		Short: "Print a conversation for reading in a terminal",
		Long: `Print a conversation for reading in a terminal: prompts, answers, tool calls with
their changes and the first lines of their results, subagents. sessions export
has all of it. --steps adds a line for each request to the model, with the digest
of its system prompt: while that is the same, the prompt was.`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withArchive(cmd, func(a *archive) error {
				c, err := a.conversation(args, last, everything)
				if err != nil {
					return err
				}
				s := screenOf(cmd.OutOrStdout())
				return export.Write(cmd.Context(), cmd.OutOrStdout(), export.Text, c, export.Options{Color: s.color, Thoughts: thoughts, Steps: steps, Width: s.columns})
			})
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "the session that was used last")
	cmd.Flags().BoolVar(&everything, "all", false, "also what an undo has taken back")
	cmd.Flags().BoolVar(&thoughts, "thoughts", false, "also the model's thoughts")
	cmd.Flags().BoolVar(&steps, "steps", false, "also each request to the model: time, model, tokens, digest of the system prompt")
	return cmd
}

// exportFlags are the flags of sessions export.
type exportFlags struct {
	last, everything, redact, force bool
	format                          string
}

func newSessionsExport() *cobra.Command {
	var flags exportFlags
	cmd := &cobra.Command{
		Use:   "export [session] [file]",
		Short: "Write a conversation as JSON lines, Markdown or one HTML page",
		Long: `Write a conversation as JSON lines, Markdown or one HTML page that needs nothing
else (docs/sessions.md). Without a file it goes to standard output. The form is
that of --format, else that of the file's name, else Markdown. A file that is
there already is not overwritten without --force.

--redact takes out what should not be shared: paths outside the session's
directories, hosts, addresses, e-mail addresses, your user name and pictures.
Read what remains before you share it: names in the text stay.`,
		Example: `  acp-agent sessions export ses_019ac7d3e1f0 talk.html
  acp-agent sessions export --last --format json | jq .`,
		Args: usageArgs(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return runExport(cmd, flags, args) },
	}
	cmd.Flags().BoolVar(&flags.last, "last", false, "the session that was used last")
	cmd.Flags().BoolVar(&flags.everything, "all", false, "also what an undo has taken back")
	cmd.Flags().BoolVar(&flags.redact, "redact", false, "take out paths, hosts and addresses")
	cmd.Flags().BoolVar(&flags.force, "force", false, "overwrite the file")
	cmd.Flags().StringVar(&flags.format, "format", "", "json, markdown or html")
	return cmd
}

func runExport(cmd *cobra.Command, flags exportFlags, args []string) error {
	file := ""
	if flags.last && len(args) == 1 || len(args) == 2 {
		file, args = args[len(args)-1], args[:len(args)-1]
	}
	format, err := flags.formatOf(file)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return withArchive(cmd, func(a *archive) error {
		c, err := a.conversation(args, flags.last, flags.everything)
		if err != nil {
			return err
		}
		o := export.Options{}
		if flags.redact {
			o.Redact = a.core.redaction()
		}
		write := func(out io.Writer) error { return export.Write(cmd.Context(), out, format, c, o) }
		if file == "" || file == "-" {
			return write(cmd.OutOrStdout())
		}
		if err := writeNew(file, flags.force, write); err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.ErrOrStderr(), "Written to", file)
		return err
	})
}

func (f exportFlags) formatOf(file string) (export.Format, error) {
	if f.format != "" {
		return export.ParseFormat(f.format)
	}
	if file == "" || file == "-" {
		return export.Markdown, nil
	}
	format, err := export.ParseFormat(filepath.Ext(file))
	if err != nil {
		return "", fmt.Errorf("the name %s does not say which form is wanted: end it in .jsonl, .md or .html, or give --format", file)
	}
	return format, nil
}

// writeNew writes a file for this user alone; one that could not be written whole does not stay.
func writeNew(name string, force bool, write func(io.Writer) error) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; --force overwrites it", name)
	}
	if err != nil {
		return err
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// conversation is the conversation that a command line means, with who allowed what.
func (a *archive) conversation(args []string, last, everything bool) (export.Conversation, error) {
	id, err := a.pick(args, last)
	if err != nil {
		return export.Conversation{}, err
	}
	st, err := a.Load(id)
	if err != nil {
		return export.Conversation{}, err
	}
	c := export.Of(st)
	if everything {
		c.Messages = st.All()
	}
	rules, err := session.StoredAnswers(st)
	if err != nil {
		c.Notes = append(c.Notes, "The rules of the session cannot be read: "+err.Error())
	}
	for _, r := range rules {
		c.Rules = append(c.Rules, strings.TrimSpace(r.Action.String()+" "+r.Permission+" "+r.Pattern))
	}
	c.Price = a.core.price(a.cfg)
	c.Decisions = decisions(a.core.dataDir, a.Store, st.Info)
	return c, nil
}

// maxForks bounds how far back the audits of the sessions are read that a session is a fork of.
const maxForks = 16

// decisions says who allowed or refused each call, by the audits of a session and of the
// sessions that it was forked from. What no audit says is not known.
func decisions(dataDir string, s *store.Store, info store.Info) map[string]export.Decision {
	all := map[string]export.Decision{}
	for range maxForks {
		export.ReadDecisions(auditDir(dataDir), info.ID, all)
		if info.ForkedFrom == "" {
			break
		}
		st, err := s.Load(info.ForkedFrom)
		if err != nil {
			break
		}
		info = st.Info
	}
	return all
}

// redaction is what must not be shared of this user and machine.
func (c *core) redaction() *export.Redaction {
	r := &export.Redaction{User: c.getenv("USER")}
	if home, err := os.UserHomeDir(); err == nil {
		r.Home = home
		if r.User == "" {
			r.User = filepath.Base(home)
		}
	}
	if host, err := os.Hostname(); err == nil {
		r.Host = host
	}
	return r
}
