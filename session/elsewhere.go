package session

import (
	"context"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// foreignTool is what a recording keeps of a tool from elsewhere: what the model is told of it.
// Its calls are recorded by themselves.
type foreignTool struct {
	ID, Description, Label string
	Parameters             *jsonschema.Schema
	Source                 tools.Source
	Kind                   kinds.Kind
	ReadOnly               bool
	SubagentTypes          []string
	// Order is that of the arguments, which JSON does not keep.
	Order []string `json:",omitempty"`
}

// foreignTools are the tools from elsewhere, unless they are those of before.
type foreignTools struct {
	Changed bool
	Tools   []foreignTool
}

// elsewhere are the tools from elsewhere, of this process or of a recording; changed says that
// they are others than before.
func (s *sources) elsewhere() (all []tools.Tool, changed bool) {
	if s.host.Tape == nil {
		return s.known()
	}
	found := record.Value(s.host.Tape, "tools from elsewhere", s.ID, func() (f foreignTools) {
		all, f.Changed = s.known()
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
		foreign = append(foreign, foreignTool{t.ID, t.Description, t.Spec.Label, t.Parameters, t.Source, t.Kind, t.ReadOnly, t.SubagentTypes, order})
	}
	return foreign
}

// playedTools are recorded tools. They are there for the model alone: their calls are recorded.
func playedTools(list []foreignTool) (all []tools.Tool) {
	for _, t := range list {
		if t.Parameters != nil {
			t.Parameters.PropertyOrder = t.Order
		}
		all = append(all, tools.Tool{
			Spec: tools.Spec{
				ID: t.ID, Description: t.Description, Label: t.Label, Parameters: t.Parameters, Source: t.Source, Kind: t.Kind,
				ReadOnly: t.ReadOnly, SubagentTypes: t.SubagentTypes,
			},
			Run: func(context.Context, tools.Runtime, tools.Args) (*tools.Result, error) {
				return nil, record.ErrNotRecorded
			},
		})
	}
	return all
}

// RecordMounted records the tools that are mounted before any session. When a recording is played,
// which mounts no module of the user's, it returns what was mounted then, in the same order: the
// tools that are there now, and for the others what was recorded of them.
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

// listen has what happened by itself happen again when a recording is played.
func (s *sources) listen() {
	s.host.Tape.OnHappened(s.ID, func(name string, data []byte) {
		switch name {
		case jobEvent:
			s.playJob(data)
		case promptsEvent:
			s.servers.playPrompts(data)
		default:
			if person, ok := s.spec.Person.(*recordedPerson); ok {
				person.play(name, data)
			}
		}
	})
}
