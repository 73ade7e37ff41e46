package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"acp-agent/transcript"
)

// Recognise tells which of the known shapes the output of a program is: our
// envelope, Amp's or Amplifier's. known is false for anything else, which is
// plain text. An object that has a shape's mark but is not well-formed is an
// error, so that no failure is taken for text.
func Recognise(text []byte) (o Outcome, known bool, err error) {
	raw, ok := objectOf(text)
	if !ok {
		return o, false, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return o, false, nil
	}
	switch {
	case isWord(keys["type"], transcript.Output, transcript.Error) && (keys["data"] != nil || keys["error_text"] != nil):
		o, err = envelope(raw)
	case isWord(keys["status"], transcript.States()...) && shaped(keys, "status", "result", "error"):
		o, err = DecodeAmp(raw)
	case keys["success"] != nil && shaped(keys, "success", "output", "error"):
		o, err = DecodeAmplifier(raw)
	default:
		return o, false, nil
	}
	return o, true, err
}

func isWord[W ~string](raw json.RawMessage, words ...W) bool {
	var word W
	return raw != nil && json.Unmarshal(raw, &word) == nil && slices.Contains(words, word)
}

// shaped reports whether an object is more than a tool's data that happens to
// have the mark: it has nothing else, or a result or an error.
func shaped(keys map[string]json.RawMessage, mark, result, failure string) bool {
	return keys[result] != nil || keys[failure] != nil || keys[mark] != nil && len(keys) == 1
}

func envelope(raw json.RawMessage) (Outcome, error) {
	var e transcript.Envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return Outcome{}, err
	}
	if e.Type == transcript.Error && e.Data != nil {
		return Outcome{}, fmt.Errorf("an error has no data")
	}
	return Ended("", e), nil
}

// objectOf is the JSON text without space around it, if it is an object.
func objectOf(text []byte) (json.RawMessage, bool) {
	text = bytes.TrimSpace(text)
	return text, bytes.HasPrefix(text, []byte("{")) && json.Valid(text)
}
