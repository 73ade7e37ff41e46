package app

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearNames is how many letters a name may differ by to be suggested.
const nearNames = 2

// noArgs refuses arguments. The first is taken for the name of a command, and the names
// that are near are suggested.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return &exitError{exitUsage, fmt.Errorf("%s takes no argument %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())}
	}
	return &exitError{exitUsage, fmt.Errorf("%s has no command %q%s; see %s --help",
		cmd.CommandPath(), args[0], didYouMean(cmd, args[0], ""), cmd.CommandPath())}
}

// flagError is the error of flags that cannot be parsed, with the names that are near.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return &exitError{exitUsage, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	}
	var names cobra.Command
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return &exitError{exitUsage, fmt.Errorf("%w%s; see %s --help", err, didYouMean(&names, unknown.GetSpecifiedName(), "--"), cmd.CommandPath())}
}

// didYouMean suggests the commands whose names are near, with the prefix before each.
func didYouMean(cmd *cobra.Command, name, prefix string) string {
	cmd.SuggestionsMinimumDistance = nearNames
	near := cmd.SuggestionsFor(name)
	slices.Sort(near)
	text := ""
	for i, one := range slices.Compact(near) {
		if i > 0 {
			text += " or"
		}
		text += fmt.Sprintf(" %q", prefix+one)
	}
	if text == "" {
		return ""
	}
	return ", did you mean" + text + "?"
}

// usageArgs makes a wrong number of arguments a mistake of usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &exitError{exitUsage, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
		}
		return nil
	}
}
