package transcript

// Snapshot is the state of a session at one moment, with which a resumed session starts. A question that
// waits for its answer is a tool call in a state that is not terminal, with its input (R75).
type Snapshot struct {
	// Messages are those of Log.Record.
	Messages []*Message
	Memory   Memory
	// Hidden are the messages that an undo has hidden, by their ids, with the MessageID of the Hidden
	// that hid them.
	Hidden map[string]string
}
