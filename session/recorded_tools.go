package session

import (
	"context"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// foreignTool is how a recording keeps a tool from elsewhere: what requests say about it. Its calls are
// recorded by the pipeline.
type foreignTool struct {
	ID, Description, Label string
	Parameters             *jsonschema.Schema
	Source                 tools.Source
	Kind                   kinds.Kind
	ReadOnly               bool
	SubagentTypes          []string
	// Aliases are the names alone: that is all which a tool from elsewhere has.
	Aliases []string `json:",omitempty"`
	// Order is the order of the arguments, which the JSON of a schema does not keep.
	Order []string `json:",omitempty"`
}

// foreignTools are the tools from elsewhere; Changed says whether they differ from the last ones.
type foreignTools struct {
	Changed bool
	Tools   []foreignTool
}

// foreign returns the tools from elsewhere after wait, in a replay the recorded ones; changed says that they
// differ from the tools of the last call.
func (s *sources) foreign(wait func()) (all []tools.Tool, changed bool) {
	if s.host.Tape == nil {
		wait()
		return s.poll()
	}
	found := record.Await(s.host.Tape, "tools from elsewhere", s.ID, func() (f foreignTools) {
		wait()
		all, f.Changed = s.poll()
		f.Tools = foreignOf(all)
		return f
	})
	if !s.host.Tape.Plays() {
		return all, found.Changed
	}
	return playedTools(found.Tools), found.Changed
}

func foreignOf(list []tools.Tool) (foreign []foreignTool) {
	for _, t := range list {
		var order []string
		if t.Parameters != nil {
			order = t.Parameters.PropertyOrder
		}
		var aliases []string
		for _, alias := range t.Aliases {
			aliases = append(aliases, alias.Name)
		}
		foreign = append(foreign, foreignTool{t.ID, t.Description, t.Spec.Label, t.Parameters, t.Source, t.Kind, t.ReadOnly, t.SubagentTypes, aliases, order})
	}
	return foreign
}

// playedTools are recorded tools. None of them can run: a replay takes their results from the recording.
func playedTools(list []foreignTool) (all []tools.Tool) {
	for _, t := range list {
		if t.Parameters != nil {
			t.Parameters.PropertyOrder = t.Order
		}
		var aliases []tools.Alias
		for _, name := range t.Aliases {
			aliases = append(aliases, tools.Alias{Name: name})
		}
		all = append(all, tools.Tool{
			Spec: tools.Spec{
				ID: t.ID, Description: t.Description, Label: t.Label, Parameters: t.Parameters, Source: t.Source, Kind: t.Kind,
				ReadOnly: t.ReadOnly, SubagentTypes: t.SubagentTypes, Aliases: aliases,
			},
			Run: func(context.Context, tools.Runtime, tools.Args) (*tools.Result, error) {
				return nil, record.ErrNotRecorded
			},
		})
	}
	return all
}

// RecordMounted records the tools that are mounted before any session. A replay mounts no module of the
// user's: there it returns the recorded tools in their order, and for each that is mounted now, that
// one.
func RecordMounted(tape *record.Tape, mounted []tools.Tool) []tools.Tool {
	if tape == nil {
		return mounted
	}
	had := playedTools(record.Value(tape, "mounted tools", "", func() []foreignTool { return foreignOf(mounted) }))
	if !tape.Plays() || len(had) == 0 {
		return mounted
	}
	for i, t := range had {
		if at := slices.IndexFunc(mounted, func(now tools.Tool) bool { return now.ID == t.ID }); at >= 0 {
			had[i] = mounted[at]
		}
	}
	return had
}
