package session

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
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
		for _, t := range all {
			f.Tools = append(f.Tools, foreignTool{t.ID, t.Description, t.Spec.Label, t.Parameters, t.Source, t.Kind, t.ReadOnly, t.SubagentTypes})
		}
		return f
	})
	if !s.host.Tape.Plays() {
		return all, found.Changed
	}
	for _, t := range found.Tools {
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
	return all, found.Changed
}

// promptsEvent is the event that the prompts of MCP servers have changed.
const promptsEvent = "prompts"

// promptsChanged tells the client that there may be other commands.
func (s *sources) promptsChanged() {
	if s.host.Tape.Records() {
		if data, err := json.Marshal(s.promptCommands()); err == nil {
			s.host.Tape.Happened(s.ID, promptsEvent, data)
		}
	}
	s.spec.Sink.Emit(transcript.CommandsChanged{})
}

// promptCommands are the commands that MCP servers make prompts of.
func (s *sources) promptCommands() (list []Command) {
	if played := s.played.Load(); played != nil {
		return *played
	}
	for _, prompt := range s.servers.Prompts() {
		list = append(list, Command{Name: prompt.Command, Description: prompt.Description, Hint: prompt.Hint()})
	}
	return list
}

// listen has what happened to sources by itself happen again when a recording is played.
func (s *sources) listen() {
	s.host.Tape.OnHappened(s.ID, func(name string, data []byte) {
		if name != promptsEvent {
			if person, ok := s.spec.Person.(*recordedPerson); ok {
				person.play(name, data)
			}
			return
		}
		var list []Command
		if json.Unmarshal(data, &list) == nil {
			s.played.Store(&list)
			s.spec.Sink.Emit(transcript.CommandsChanged{})
		}
	})
}
