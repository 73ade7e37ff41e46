package builtin

import (
	"context"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// Bounds of the files that a call names for its subagent.
const (
	maxNamedFiles = 100
	namedRunes    = 1000
)

// delegateTo is delegate for the tools that stand for one subagent each. field is the
// argument that the prompt was given in. Files are named in the prompt and not read:
// the subagent reads them itself, where each read is judged.
func delegateTo(ctx context.Context, rt tools.Runtime, field string, d tools.Delegation, files []string) (*tools.Result, error) {
	if strings.TrimSpace(d.Prompt) == "" {
		return nil, tools.Errorf(tools.BadInput, "%s: %s must not be empty", d.Agent, field)
	}
	files = slices.DeleteFunc(slices.Clone(files), func(path string) bool { return strings.TrimSpace(path) == "" })
	if len(files) > maxNamedFiles {
		return nil, tools.Errorf(tools.BadInput, "%s: files has %d paths, more than %d; name a directory instead", d.Agent, len(files), maxNamedFiles)
	}
	if len(files) > 0 {
		d.Prompt += "\n\nFiles to begin with:"
		for _, path := range files {
			d.Prompt += "\n- " + kinds.Line(path, namedRunes)
		}
	}
	return delegate(ctx, rt, d)
}
