package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"acp-agent/kinds"
	"acp-agent/permissions"
)

// tryFlags are the flags of permissions try.
type tryFlags struct {
	cwd, mode, session string
	rules              []string
	recorded, asJSON   bool
}

func newTry() *cobra.Command {
	var flags tryFlags
	cmd := &cobra.Command{
		Use:   "try --rule '<rule>' (--recorded | < calls.jsonl)",
		Short: "Say what a rule would change for calls of the past",
		Long: `Judge calls twice, with and without the rules given, and print those whose
verdict differs, as "permissions explain" would explain them with the rules, and
the verdict before. The rules are tried as rules of the user's own file. With
--recorded the calls are those of past sessions, from the record that "acp-agent
audit" shows; else they are read from standard input, in the form of "permissions
explain --json". Nothing is run or stored. Exit code: 0 done; 1 it failed; 2
wrong usage.`,
		Example: `  acp-agent permissions try --rule 'deny bash(git push*)' --recorded
  acp-agent permissions try --rule 'allow bash(make test)' < calls.jsonl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTry(cmd, flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.cwd, "cwd", "", "the workspace of calls that name none (default: the current directory)")
	f.StringVar(&flags.mode, "mode", "", "the mode (default: the configured one)")
	f.StringArrayVar(&flags.rules, "rule", nil, `a rule, such as "deny bash(git push*)" or "allow read"; may be repeated`)
	f.BoolVar(&flags.recorded, "recorded", false, "judge the calls of past sessions")
	f.StringVar(&flags.session, "session", "", "judge the calls of this session alone (with --recorded)")
	f.BoolVar(&flags.asJSON, "json", false, "print JSON lines")
	return cmd
}

// changed is a call that a rule would have changed.
type changed struct {
	Input  int             `json:"input"` // the line of the input, or the number of the recorded call
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args,omitempty"`
	Before string          `json:"before"`
	After  explained       `json:"after"`
}

// parsed are the rules to be tried.
func (f tryFlags) parsed() ([]permissions.Rule, error) {
	var rules []permissions.Rule
	for _, text := range f.rules {
		rule, err := parseRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	switch {
	case len(rules) == 0:
		return nil, errors.New(`no rule: give one, as in --rule "deny bash(git push*)"`)
	case f.session != "" && !f.recorded:
		return nil, errors.New("--session goes with --recorded")
	}
	return rules, nil
}

func runTry(cmd *cobra.Command, flags tryFlags) error {
	rules, err := flags.parsed()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	calls := io.NopCloser(cmd.InOrStdin())
	if flags.recorded {
		if calls, err = recordedCalls(auditDir(dataHome()), flags.session); err != nil {
			return err
		}
	}
	defer calls.Close()
	core := newCore(cmd.ErrOrStderr())
	defer core.Close()
	without, err := newExplainer(core, flags.cwd, flags.mode)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer without.close()
	with := without.trying(rules...)
	defer with.close()
	total, differing := 0, 0
	err = answerLines(calls, cmd.OutOrStdout(), func(line int, call judgedCall) (any, error) {
		before, err := without.explain(cmd.Context(), call)
		if err != nil {
			return nil, err
		}
		after, err := with.explain(cmd.Context(), call)
		if err != nil {
			return nil, err
		}
		total++
		if before.Verdict == after.Verdict {
			return nil, nil
		}
		differing++
		c := changed{line, call.Tool, call.Args, before.Verdict, after}
		if flags.asJSON {
			return c, nil
		}
		return c.text(), nil
	})
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d calls would have been answered differently\n", differing, total)
	}
	return err
}

// text is a change as a terminal shows it.
func (c changed) text() string {
	return fmt.Sprintf("call %d: %s -> %s: %s %s\n         %s\n", c.Input, c.Before, c.After.Verdict, kinds.Line(c.Tool, 100),
		kinds.Line(string(c.Args), 200), kinds.Line(c.After.Reason, 300))
}
