package transcript

// Snapshot is a session at one moment, as a whole: what a session that is
// loaded again begins with. A question that waits for its answer is a tool call
// in a state that is not terminal, with its input (R75).
type Snapshot struct {
	// Messages are those of Log.Record.
	Messages []*Message
	Memory   Memory
	// Hidden are the messages that an undo has hidden, by their ids, each with the message
	// whose Hidden it was.
	Hidden map[string]string
}
