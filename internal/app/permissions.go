package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"acp-agent/kinds"
)

func newPermissions() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Explain what is allowed, asked and denied; list and revoke rules",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExplain(), newTry(), newPermissionsList(), newRevoke())
	return cmd
}

// explainFlags are the flags of permissions explain.
type explainFlags struct {
	cwd, mode              string
	read, write, url, tool string
	asJSON                 bool
}

func newExplain() *cobra.Command {
	var flags explainFlags
	cmd := &cobra.Command{
		Use:   "explain [<command> | --tool <id> '<json>']",
		Short: "Say what would become of a tool call, and why",
		Long: `Say what would become of a tool call, and why: by the same stages that judge
a model's call, with the configuration as it is now. Nothing is run, asked,
fetched or written; mode auto alone, also when it is the configured one, tries
out whether there is a sandbox, on which it depends. A watchdog that is a program of its own is not asked; the
answer says so.

One call from the command line: a shell command, --read or --write a path,
--url an address, or --tool with its arguments. Or many: with --json and none
of these, each line of standard input is an object

  {"tool": "bash", "args": {"cmd": "..."}, "cwd": "/abs/workspace"}

(cwd may be left out: --cwd) and is answered by one line, in order. A line that
is no such object is answered with verdict deny and a field error.

Fields of an answer: verdict (allow, ask, deny), layer (schema, enablement,
capability, rules, policy, protected, secret, watchdog), reason, rule with its
scope, file and line, part (the piece that decided), always (the rules that
"always" would store) or no_always (why none), sandbox. "policy" is the judge
of commands. Exit code: 0 explained; 1 it failed, such as by
a broken configuration; 2 wrong usage.`,
		Example: `  acp-agent permissions explain 'git push'
  acp-agent permissions explain --write .vscode/tasks.json
  acp-agent permissions explain --json < calls.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error { return runExplain(cmd, flags, args) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.cwd, "cwd", "", "the workspace (default: the current directory)")
	f.StringVar(&flags.mode, "mode", "", "the mode (default: the configured one)")
	f.StringVar(&flags.read, "read", "", "explain reading a file")
	f.StringVar(&flags.write, "write", "", "explain writing a file")
	f.StringVar(&flags.url, "url", "", "explain fetching an address")
	f.StringVar(&flags.tool, "tool", "", "explain a call of this tool; the argument is its arguments, one JSON object")
	f.BoolVar(&flags.asJSON, "json", false, "answer in JSON, one line each; without a call, read calls from standard input")
	return cmd
}

// call is the call that the command line names; none when it names none.
func (f explainFlags) call(args []string) (call judgedCall, none bool, err error) {
	var found []judgedCall
	add := func(tool string, value any) {
		raw, _ := json.Marshal(value) // strings and maps of strings
		found = append(found, judgedCall{Tool: tool, Args: raw})
	}
	if f.read != "" {
		add("read", map[string]string{"path": f.read})
	}
	if f.write != "" {
		add("write", map[string]string{"path": f.write, "content": ""})
	}
	if f.url != "" {
		add("web_fetch", map[string]string{"url": f.url})
	}
	switch {
	case f.tool != "" && len(args) <= 1:
		found = append(found, judgedCall{Tool: f.tool, Args: []byte(strings.Join(args, ""))})
	case f.tool != "":
		return call, false, errors.New("--tool takes one argument, its arguments as a JSON object")
	case len(args) == 1:
		add("bash", map[string]string{"cmd": args[0]})
	case len(args) > 1:
		// Joined again, the words would not be the ones that the shell took apart.
		return call, false, errors.New("give the command as one argument, in quotes")
	}
	switch len(found) {
	case 0:
		return call, true, nil
	case 1:
		return found[0], false, nil
	}
	return call, false, errors.New("give one call: a command, --read, --write, --url or --tool")
}

func runExplain(cmd *cobra.Command, flags explainFlags, args []string) error {
	call, none, err := flags.call(args)
	if err == nil && none && !flags.asJSON {
		err = errors.New(`nothing to explain: give a command, --read, --write, --url or --tool, or --json and calls on standard input`)
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	core := newCore(cmd.ErrOrStderr())
	defer core.Close()
	e, err := newExplainer(core, flags.cwd, flags.mode)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer e.close()
	if none {
		return answerLines(cmd.InOrStdin(), cmd.OutOrStdout(), func(_ int, call judgedCall) (any, error) {
			return e.explain(cmd.Context(), call)
		})
	}
	answer, err := e.explain(cmd.Context(), call)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return printLine(cmd.OutOrStdout(), answer)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), answer.text())
	return err
}

// text is an answer as a terminal shows it.
func (e explained) text() string {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-9s%s\n", name, kinds.Visible(value))
		}
	}
	row(e.Verdict, e.Reason)
	row("layer", e.Layer)
	row("part", e.Part)
	if e.Rule != nil {
		where := e.Rule.Scope
		if e.Rule.File != "" {
			where += fmt.Sprintf(", %s:%d", e.Rule.File, e.Rule.Line)
		}
		row("rule", fmt.Sprintf("%s %s(%s), %s", e.Rule.Action, e.Rule.Permission, e.Rule.Pattern, where))
	}
	switch {
	case e.remember != "":
		row("always", e.remember)
	case e.NoAlways != "":
		row("always", "not offered: "+e.NoAlways)
	}
	row("sandbox", e.Sandbox)
	row("watchdog", e.Watchdog)
	return b.String()
}
