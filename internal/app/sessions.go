package app

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"acp-agent/config"
	"acp-agent/kinds"
	"acp-agent/store"
)

func newSessions() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, search, export and delete stored conversations",
		Long: `List, show, search, export and delete the conversations that are stored of all
editors and runs (docs/sessions.md). A session is named by its id, or by as many
of its first letters as no other session has, with or without "ses_".

Reading a conversation does not disturb a process that has it open.`,
		Example: `  acp-agent sessions list --cwd .
  acp-agent sessions search 'retry "exit code 3"'
  acp-agent sessions export --last --redact talk.html`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSessionsList(), newSessionsShow(), newSessionsSearch(), newSessionsExport(), newSessionsDelete())
	return cmd
}

// archive is the stored conversations, without the rest of the agent. They can be read whether
// or not new ones are stored.
type archive struct {
	*store.Store
	core *core
	cfg  *config.Config
}

// withArchive opens the archive for the time of a command.
func withArchive(cmd *cobra.Command, do func(a *archive) error) error {
	c := newCore(cmd.ErrOrStderr())
	defer c.Close()
	cfg, err := c.load("")
	if err != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "acp-agent:", kinds.Visible(err.Error())) // without the configuration only the prices are missing
		cfg = config.Default()
	}
	a := &archive{Store: store.New(store.Options{Dir: conversationsDir(c.dataDir)}), core: c, cfg: cfg}
	defer a.Close()
	if err := do(a); err != nil {
		if cmd.Context().Err() != nil {
			return &exitError{code: exitCancelled}
		}
		return err
	}
	return nil
}

// all are the stored sessions in a directory, "" being all, the last written first: at most
// limit, and all without one.
func (a *archive) all(cwd string, limit int) ([]store.Info, error) {
	const page = 500
	var list []store.Info
	for cursor := ""; ; {
		size := page
		if limit > 0 {
			size = min(page, limit-len(list))
		}
		got, err := a.List(store.ListOptions{Cwd: cwd, Cursor: cursor, Limit: size})
		if err != nil {
			return nil, err
		}
		list, cursor = append(list, got.Sessions...), got.Next
		if cursor == "" || limit > 0 && len(list) >= limit {
			return list, nil
		}
	}
}

// errNoSessions reports that there is nothing to choose from.
var errNoSessions = errors.New("no conversation is stored yet")

// pick returns the session that a command line names: an id, the beginning of one, or with last the
// one that was written last.
func (a *archive) pick(args []string, last bool) (string, error) {
	switch {
	case last && len(args) > 0:
		return "", &exitError{exitUsage, errors.New("name a session, or give --last")}
	case last:
		list, err := a.all("", 1)
		if err == nil && len(list) == 0 {
			err = errNoSessions
		}
		if err != nil {
			return "", err
		}
		return list[0].ID, nil
	case len(args) == 0 || args[0] == "":
		return "", &exitError{exitUsage, errors.New("name a session, or give --last; acp-agent sessions list shows the sessions")}
	}
	return a.resolve(args[0])
}

// resolve finds the session whose id is, or begins with, a name.
func (a *archive) resolve(name string) (string, error) {
	list, err := a.all("", 0)
	if err != nil {
		return "", err
	}
	var found []string
	for _, info := range list {
		if info.ID == name {
			return name, nil
		}
		if strings.HasPrefix(info.ID, name) || strings.HasPrefix(info.ID, "ses_"+name) {
			found = append(found, info.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("no stored session has an id that begins with %q; acp-agent sessions list shows the sessions", name)
	}
	const most = 5
	more := ""
	if len(found) > most {
		more = fmt.Sprintf(" and %d more", len(found)-most)
	}
	return "", fmt.Errorf("%q is the beginning of several ids: %s%s", name, strings.Join(found[:min(most, len(found))], ", "), more)
}

// directory is the directory that --cwd names; "" stays all.
func directory(flag string) (string, error) {
	if flag == "" {
		return "", nil
	}
	abs, err := filepath.Abs(flag)
	if err != nil {
		return "", &exitError{exitUsage, err}
	}
	return abs, nil
}

// shortIDs are the sessions' ids as a user types them: the part of the time, when no other of
// the list has it.
func shortIDs(list []store.Info) []string {
	const size = len("ses_") + 12
	count := map[string]int{}
	for _, info := range list {
		count[info.ID[:min(size, len(info.ID))]]++
	}
	var ids []string
	for _, info := range list {
		id := info.ID[:min(size, len(info.ID))]
		if count[id] > 1 {
			id = info.ID
		}
		ids = append(ids, id)
	}
	return ids
}

// writeLines writes lines as one.
func writeLines(out io.Writer, lines []string) error {
	_, err := io.WriteString(out, strings.Join(slices.Concat(lines, []string{""}), "\n"))
	return err
}
