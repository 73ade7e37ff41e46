package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/kinds"
	"acp-agent/store"
)

// sessionsFlags are the flags of sessions list and search.
type sessionsFlags struct {
	cwd    string
	limit  int
	asJSON bool
}

func (f *sessionsFlags) add(cmd *cobra.Command, limit int, of string) {
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "only sessions of this directory")
	cmd.Flags().IntVar(&f.limit, "limit", limit, "most "+of+" to print; 0 is all")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

func (f *sessionsFlags) check() error {
	if f.limit < 0 {
		return &exitError{exitUsage, errors.New("--limit must not be negative")}
	}
	return nil
}

func newSessionsList() *cobra.Command {
	var flags sessionsFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the stored conversations, the one that was used last first",
		Long: `List the stored conversations, the one that was used last first: id, last
change, number of turns, title and directory. In a terminal ids and texts are
cut to its width; elsewhere, and with --json, they are whole.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			cwd, err := directory(flags.cwd)
			if err != nil {
				return err
			}
			return withArchive(cmd, func(a *archive) error {
				list, err := a.all(cwd, flags.limit)
				if err != nil {
					return err
				}
				return printSessions(cmd.OutOrStdout(), cmd.ErrOrStderr(), list, flags)
			})
		},
	}
	flags.add(cmd, 20, "sessions")
	return cmd
}

func printSessions(out, stderr io.Writer, list []store.Info, flags sessionsFlags) error {
	switch {
	case flags.asJSON:
		return printJSON(out, append([]store.Info{}, list...))
	case len(list) == 0:
		fmt.Fprintln(stderr, "No conversation is stored"+ofDirectory(flags.cwd)+".")
		return nil
	}
	s := screenOf(out)
	if s.columns == 0 {
		return sessionsTable(out, list)
	}
	ids := shortIDs(list)
	var lines []string
	for i, info := range list {
		lines = append(lines, sessionLine(s, ids[i], info, flags.cwd == ""))
	}
	return writeLines(out, lines)
}

func ofDirectory(cwd string) string {
	if cwd == "" {
		return ""
	}
	return " of this directory"
}

// sessionsTable is the list for a file or another program.
func sessionsTable(out io.Writer, list []store.Info) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tUPDATED\tTURNS\tTITLE\tDIRECTORY")
	for _, info := range list {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", info.ID, info.Updated.Local().Format(time.DateTime), info.Turns, shownName(info), kinds.Line(info.Cwd, 4096))
	}
	return table.Flush()
}

// sessionLine is a session on one line of a terminal. On a narrow one the directory goes first,
// and then the time.
func sessionLine(s screen, id string, info store.Info, withDir bool) string {
	const narrow = 72
	line, used := s.style("36", id)+"  ", len(id)+2
	if s.columns >= narrow {
		about := fmt.Sprintf("%s  %s  ", info.Updated.Local().Format("2006-01-02 15:04"), fit(fmt.Sprintf("%4d", info.Turns), 6))
		line, used = line+s.style("2", about), used+len(about)
	}
	room := max(10, s.columns-used)
	dir := ""
	if withDir && s.columns >= narrow {
		dir = fit(shortHome(info.Cwd), room/2-2)
		room -= len([]rune(dir)) + 2
	}
	line += fit(shownName(info), room)
	if dir != "" {
		line += "  " + s.style("2", dir)
	}
	return line
}

func shownName(info store.Info) string {
	if title := kinds.Line(info.Title, 200); title != "" {
		return title
	}
	return "(no title)"
}

// shortHome is a directory with ~ for the user's home.
func shortHome(dir string) string {
	home, err := os.UserHomeDir()
	if rest, below := strings.CutPrefix(dir, home); err == nil && home != "" && below && (rest == "" || os.IsPathSeparator(rest[0])) {
		dir = "~" + rest
	}
	return kinds.Line(dir, 4096)
}

func newSessionsSearch() *cobra.Command {
	var flags sessionsFlags
	cmd := &cobra.Command{
		Use:   "search <words>",
		Short: "Find conversations by words",
		Long: `Find messages of stored conversations that hold all of the words, in any case;
words in double quotes stand together. What was said, thought, edited, run and
returned is searched, of subagents too, and also what an undo has taken back.

Exit code: 0 something was found; 1 nothing was; 2 wrong usage.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			cwd, err := directory(flags.cwd)
			if err != nil {
				return err
			}
			query := store.Query{Text: strings.Join(args, " "), Cwd: cwd, Limit: flags.limit}
			if flags.limit == 0 {
				query.Limit, query.PerSession = 1<<30, 1<<20
			}
			if strings.TrimSpace(strings.ReplaceAll(query.Text, `"`, "")) == "" {
				return &exitError{exitUsage, errors.New("give a word to search for")}
			}
			return withArchive(cmd, func(a *archive) error {
				hits, err := a.Search(cmd.Context(), query)
				if err != nil {
					return err
				}
				return printHits(cmd.OutOrStdout(), cmd.ErrOrStderr(), hits, flags, query.Text)
			})
		},
	}
	flags.add(cmd, 50, "messages")
	return cmd
}

// hitInfo is a hit as it is printed as JSON.
type hitInfo struct {
	Session  string    `json:"session"`
	Title    string    `json:"title,omitempty"`
	Cwd      string    `json:"cwd"`
	Message  string    `json:"message"`
	Subagent string    `json:"subagent,omitempty"`
	User     bool      `json:"user"`
	At       time.Time `json:"at"`
	Snippet  string    `json:"snippet"`
}

func printHits(out, stderr io.Writer, hits []store.Hit, flags sessionsFlags, query string) error {
	if flags.asJSON {
		infos := []hitInfo{}
		for _, hit := range hits {
			infos = append(infos, hitInfo{
				Session: hit.Session.ID, Title: hit.Session.Title, Cwd: hit.Session.Cwd, Message: hit.MessageID, Subagent: hit.Subagent,
				User: hit.User, At: hit.At, Snippet: hit.Snippet,
			})
		}
		if err := printJSON(out, infos); err != nil || len(infos) > 0 {
			return err
		}
		return &exitError{code: exitFailed}
	}
	if len(hits) == 0 {
		fmt.Fprintln(stderr, "Nothing was found.")
		return &exitError{code: exitFailed}
	}
	s, last := screenOf(out), ""
	var lines []string
	for _, hit := range hits {
		if hit.Session.ID != last {
			last = hit.Session.ID
			title := hit.Session.ID + "  " + hit.Session.Updated.Local().Format("2006-01-02 15:04") + "  " + shownName(hit.Session)
			if s.columns > 0 {
				title = fit(title, s.columns)
			}
			lines = append(lines, s.style("1", title))
		}
		lines = append(lines, "  "+hitLine(s, hit, query))
	}
	return writeLines(out, lines)
}

// hitLine is a hit with the words in it marked.
func hitLine(s screen, hit store.Hit, query string) string {
	who := "agent"
	switch {
	case hit.Subagent != "":
		who = "subagent"
	case hit.User:
		who = "you"
	}
	text := kinds.Line(hit.Snippet, 400)
	if s.columns > 0 {
		text = fit(text, max(20, s.columns-len(who)-4))
	}
	return s.style("2", who+": ") + s.marked(text, query)
}

// marked is a text in which the first of each word of a query stands out.
func (s screen) marked(text, query string) string {
	if !s.color {
		return text
	}
	for _, word := range strings.Fields(strings.ReplaceAll(query, `"`, " ")) {
		folded := strings.ToLower(text)
		if at := strings.Index(folded, strings.ToLower(word)); at >= 0 && len(folded) == len(text) && !strings.Contains(text[:at], "\x1b") {
			text = text[:at] + s.style("1;33", text[at:at+len(word)]) + text[at+len(word):]
		}
	}
	return text
}
