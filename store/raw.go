package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"acp-agent/internal/userfile"
)

// Raw is the content of a session's files without the checksums of the lines, so that secrets can be
// removed from single strings. A damaged line is null; an incomplete line at the end is left out.
type Raw struct {
	Lines []json.RawMessage `json:"lines"`
	// Live are the lines of the live file.
	Live []json.RawMessage `json:"live,omitempty"`
}

// Pack reads the files of a session, if they have at most limit bytes each. It does not lock the session:
// another process may have it open.
func (s *Store) Pack(id string, limit int64) (raw Raw, err error) {
	if s == nil {
		return raw, ErrNotFound
	}
	if err := checkID(id); err != nil {
		return raw, err
	}
	if raw.Lines, err = readRaw(s.path(id, recordEnd), limit); err != nil {
		return raw, fmt.Errorf("session %s: %w", id, err)
	}
	if raw.Live, err = readRaw(s.path(id, liveEnd), limit); errors.Is(err, ErrNotFound) {
		err = nil
	}
	return raw, err
}

func readRaw(path string, limit int64) (lines []json.RawMessage, err error) {
	text, err := userfile.Read(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	for one := range bytes.Lines(text) {
		one, whole := bytes.CutSuffix(one, []byte("\n"))
		if !whole {
			break
		}
		if _, err := parse(one); err != nil {
			lines = append(lines, json.RawMessage("null"))
			continue
		}
		lines = append(lines, append(bytes.Clone(one[:len(one)-sumLen]), '}'))
	}
	return lines, err
}

// Unpack writes the files of a session, unless the store has it already.
func (s *Store) Unpack(id string, raw Raw) error {
	if err := checkID(id); err != nil {
		return err
	}
	if !userfile.Missing(s.path(id, recordEnd)) {
		return nil
	}
	if err := userfile.MakeDir(s.o.Dir); err != nil {
		return err
	}
	if len(raw.Live) > 0 {
		if err := userfile.Replace(s.path(id, liveEnd), rawText(raw.Live)); err != nil {
			return err
		}
	}
	return userfile.Replace(s.path(id, recordEnd), rawText(raw.Lines))
}

func rawText(lines []json.RawMessage) []byte {
	var text []byte
	for _, one := range lines {
		from := len(text)
		before, ok := bytes.CutSuffix(one, []byte("}"))
		if !ok {
			text = append(text, "null\n"...)
			continue
		}
		text = append(text, before...)
		end := len(text)
		text = append(text, sumMark...)
		text = appendSum(text, text[from:end])
		text = append(text, sumTail+"\n"...)
	}
	return text
}
