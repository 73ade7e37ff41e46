package session

import (
	"errors"
	"fmt"
	"strings"

	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
	"acp-agent/workspace/undo/timeline"
)

// forkCommand is /fork: it stores a copy of the conversation up to here, which goes on as a
// session of its own (R142).
func forkCommand(h *Host, sessionID string, log *transcript.Log) string {
	if h.Store == nil {
		return "This conversation is not stored, so there is nothing to copy: `sessions.store` of your configuration is off.\n"
	}
	o := store.ForkOptions{}
	for _, m := range log.Record() { // the last one is the command
		if m.Role == transcript.User {
			o.Before = m.ID
		}
	}
	info, err := h.Fork(sessionID, o)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrNoMessage):
		return "Nothing of this conversation is stored, so there is nothing to copy.\n"
	case err != nil:
		return "The conversation was not copied: " + kinds.Visible(err.Error()) + ".\n"
	}
	return fmt.Sprintf("A copy of this conversation is stored as %s. It has all that was said before this, and not what you allowed here. "+
		"`/undo` takes back in it what was done before this, too; a file that this session changes from now on is asked about first. "+
		"Open it from the list of sessions of your editor. This session goes on as it is.\n", code(info.ID))
}

// forFork rewrites a stored value for a fork: checkpoints and plans get the ids of the copied messages.
// ok is false for a value that the fork does not have. A fork in another directory has no checkpoints,
// because their files are not there.
func forFork(v store.ForkedValue) (key string, data []byte, ok bool) {
	if timeline.IsRecord(v.Key) {
		key, data, ok = timeline.ForFork(v.Key, v.Data, v.ID)
		return key, data, ok && !v.Moved
	}
	if message, ok := strings.CutPrefix(v.Key, sentPlanKey("")); ok {
		return sentPlanKey(v.ID(message)), v.Data, v.ID(message) != ""
	}
	return v.Key, v.Data, true
}
