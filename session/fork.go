package session

import (
	"errors"
	"fmt"

	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

// forkCommand is /fork: it stores a copy of the conversation up to here, which goes on as a
// session of its own (R142).
func (s *Session) forkCommand() string {
	if s.host.Store == nil {
		return "This conversation is not stored, so there is nothing to copy: `sessions.store` of your configuration is off.\n"
	}
	o := store.ForkOptions{}
	for _, m := range s.conversation.log.Record() { // the last one is the command
		if m.Role == transcript.User {
			o.Before = m.ID
		}
	}
	info, err := s.host.Fork(s.ID, o)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrNoMessage):
		return "Nothing of this conversation is stored, so there is nothing to copy.\n"
	case err != nil:
		return "The conversation was not copied: " + kinds.Visible(err.Error()) + ".\n"
	}
	return fmt.Sprintf("A copy of this conversation is stored as %s. It has all that was said before this, and not what you allowed here. "+
		"Open it from the list of sessions of your editor. This session goes on as it is.\n", code(info.ID))
}
