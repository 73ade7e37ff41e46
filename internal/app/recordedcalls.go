package app

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"acp-agent/audit"
)

// recordedCalls are the calls of past sessions as lines of "permissions explain --json", read from
// their audits; session is one of them, empty means all. A text of which an audit has the hash
// only is "…", because rules do not look at contents. Calls in directories that are gone are left
// out. Closing the reader ends the reading.
func recordedCalls(dir, session string) (io.ReadCloser, error) {
	sessions := []string{session}
	if session == "" {
		var err error
		if sessions, err = audit.Sessions(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if len(sessions) == 0 {
		return nil, errors.New("no session has left a record yet")
	}
	reader, writer := io.Pipe()
	go func() { // ends with the last record, or when the reader is closed
		writer.CloseWithError(writeRecorded(writer, dir, sessions))
	}()
	return reader, nil
}

func writeRecorded(w io.Writer, dir string, sessions []string) error {
	there := map[string]bool{}
	for _, session := range sessions {
		err := audit.Read(dir, session, func(r audit.Record, _ []byte) error {
			if r.Event != audit.End || r.Tool == "" || r.Workspace == "" || !isThere(there, r.Workspace) {
				return nil
			}
			return printLine(w, judgedCall{Tool: r.Tool, Args: withoutHashes(r.Args), Cwd: r.Workspace})
		})
		if err != nil {
			return missingAudit(session, err)
		}
	}
	return nil
}

func isThere(known map[string]bool, dir string) bool {
	there, ok := known[dir]
	if !ok {
		info, err := os.Stat(dir)
		there = err == nil && info.IsDir()
		known[dir] = there
	}
	return there
}

// withoutHashes puts a text in the place of each hash that a record keeps of one.
func withoutHashes(args json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(args, &value) != nil {
		return args
	}
	plain, err := json.Marshal(plainText(value))
	if err != nil {
		return args
	}
	return plain
}

func plainText(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = plainText(value[i])
		}
	case map[string]any:
		if names := slices.Sorted(maps.Keys(value)); slices.Equal(names, []string{"bytes", "sha256"}) {
			return "…"
		}
		for name := range value {
			value[name] = plainText(value[name])
		}
	}
	return value
}
