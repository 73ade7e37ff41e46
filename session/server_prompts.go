package session

import (
	"encoding/json"

	"acp-agent/transcript"
)

// promptsEvent is the event that the prompts of MCP servers have changed.
const promptsEvent = "prompts"

// promptsChanged tells the client that there may be other commands.
func (s *servers) promptsChanged() {
	if s.host.Tape.Records() {
		if data, err := json.Marshal(s.promptCommands()); err == nil {
			s.host.Tape.Happened(s.ID, promptsEvent, data)
		}
	}
	s.spec.Sink.Emit(transcript.CommandsChanged{})
}

// promptCommands are the commands that MCP servers make prompts of.
func (s *servers) promptCommands() (list []Command) {
	if played := s.played.Load(); played != nil {
		return *played
	}
	for _, prompt := range s.Prompts() {
		list = append(list, Command{Name: prompt.Command, Description: prompt.Description, Hint: prompt.Hint()})
	}
	return list
}

// playPrompts has the prompts of a recording take the place of those of servers.
func (s *servers) playPrompts(data []byte) {
	var list []Command
	if json.Unmarshal(data, &list) == nil {
		s.played.Store(&list)
		s.spec.Sink.Emit(transcript.CommandsChanged{})
	}
}
