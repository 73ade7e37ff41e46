package session

import (
	"encoding/json"

	"acp-agent/transcript"
)

// promptsEvent is the recorded event that the prompts of MCP servers have changed.
const promptsEvent = "prompts"

// promptsChanged notifies the client that the commands may have changed.
func (s *servers) promptsChanged() {
	if s.host.Tape.Records() {
		if data, err := json.Marshal(s.promptCommands()); err == nil {
			s.host.Tape.Happened(s.ID, promptsEvent, data)
		}
	}
	s.spec.Sink.Emit(transcript.CommandsChanged{})
}

// promptCommands lists the commands that stand for prompts of MCP servers.
func (s *servers) promptCommands() (list []Command) {
	if played := s.played.Load(); played != nil {
		return *played
	}
	for _, prompt := range s.Prompts() {
		list = append(list, Command{Name: prompt.Command, Description: prompt.Description, Hint: prompt.Hint()})
	}
	return list
}

// playPrompts replaces the prompts of servers by recorded ones.
func (s *servers) playPrompts(data []byte) {
	var list []Command
	if json.Unmarshal(data, &list) == nil {
		s.played.Store(&list)
		s.spec.Sink.Emit(transcript.CommandsChanged{})
	}
}
