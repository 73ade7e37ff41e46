package undo

import (
	"errors"
	"fmt"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// ChangedSince refuses to take back a change over another one.
func ChangedSince(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Err: tools.ErrChanged,
		Message: path + " was changed since; nothing was undone",
		Hint:    "read the file, and make the change you want with edit",
	}
}

func nothingError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Message: "nothing to undo for " + path,
		Hint: "only what this session's file tools changed can be taken back, not what a command or the user changed",
	}
}

// othersError refuses to take back another agent's change.
func othersError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path,
		Message: "the last change of " + path + " was made by another agent; nothing was undone",
		Hint:    "you can take back what you, or an agent that you delegated to, changed; otherwise make the change you want with edit",
	}
}

// lostError says that a pre-image is no longer kept.
func (h *History) lostError(entry *journal.Entry) *tools.Error {
	path := entry.Records[0].Path
	return &tools.Error{
		Kind: tools.Unavailable, Path: path, Err: errors.ErrUnsupported,
		Message: fmt.Sprintf("the earlier content of %s is no longer kept: a session keeps at most %d MiB of it; nothing was undone",
			path, h.MaxBytes()>>20),
	}
}
