package transcript

import (
	"encoding/json"
	"fmt"
)

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

// snapshotVersion changes when older programs could misread newer snapshots.
const snapshotVersion = 1

// EncodeSnapshot makes one line of JSON of a snapshot; as [EncodeMessage].
func EncodeSnapshot(s Snapshot) ([]byte, error) {
	form := struct {
		Version  int               `json:"version"`
		Messages []messageForm     `json:"messages"`
		Memory   Memory            `json:"memory"`
		Hidden   map[string]string `json:"hidden,omitempty"`
	}{snapshotVersion, make([]messageForm, len(s.Messages)), s.Memory, s.Hidden}
	for i, m := range s.Messages {
		var err error
		if form.Messages[i], err = formOf(m, 0); err != nil {
			return nil, fmt.Errorf("snapshot: %w", err)
		}
	}
	return encode(form)
}

// DecodeSnapshot reads what EncodeSnapshot wrote; as [DecodeMessage]. A version
// that it does not know is an error.
func DecodeSnapshot(data []byte) (Snapshot, error) {
	var form struct {
		Version  int               `json:"version"`
		Messages []json.RawMessage `json:"messages"`
		Memory   Memory            `json:"memory"`
		Hidden   map[string]string `json:"hidden"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return Snapshot{}, fmt.Errorf("snapshot: %w", err)
	}
	if form.Version != snapshotVersion {
		return Snapshot{}, fmt.Errorf("snapshot: version %d; this program reads version %d", form.Version, snapshotVersion)
	}
	s := Snapshot{Memory: form.Memory, Hidden: form.Hidden}
	for _, raw := range form.Messages {
		m, err := DecodeMessage(raw)
		if err != nil {
			return Snapshot{}, fmt.Errorf("snapshot: %w", err)
		}
		s.Messages = append(s.Messages, m)
	}
	return s, nil
}
