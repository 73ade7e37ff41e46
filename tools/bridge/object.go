package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// member is one key of a JSON object with the bytes of its value.
type member struct {
	name string
	raw  json.RawMessage
	// idle members say nothing: they are written only when the record they came
	// from had them. always overrules that for records of our own making.
	idle, always bool
}

// object is a JSON object that keeps the order of its keys.
type object []member

// parseObject reads one JSON object. A key that stands twice is an error, for
// readers disagree about which of the two counts.
func parseObject(data []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil {
		return nil, syntax(err)
	} else if token != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var o object
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, syntax(err)
		}
		name, _ := token.(string) // the decoder takes nothing else for a key
		if seen[name] {
			return nil, fmt.Errorf("key %q stands twice", name)
		}
		seen[name] = true
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, syntax(err)
		}
		o = append(o, member{name: name, raw: raw})
	}
	if _, err := decoder.Token(); err != nil {
		return nil, syntax(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	return o, nil
}

func syntax(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// names are the keys in order; never nil.
func (o object) names() []string {
	names := make([]string, 0, len(o))
	for _, m := range o {
		names = append(names, m.name)
	}
	return names
}

// arrange puts members into the order of keys, which a decoded record had, and
// adds what it lacks. A listed key that nothing has a value for is null. Members
// without meaning appear only when they are listed; when there is no list, only
// the members that are always written do.
func (o object) arrange(keys []string, extra map[string]json.RawMessage) object {
	var out object
	left := maps.Clone(extra)
	done := map[string]bool{}
	for _, key := range keys {
		i := slices.IndexFunc(o, func(m member) bool { return m.name == key })
		raw, has := left[key]
		switch {
		case i >= 0 && !o[i].idle, i >= 0 && !has && o[i].always:
			raw = o[i].raw
		case !has:
			raw = json.RawMessage("null")
		}
		out = append(out, member{name: key, raw: raw})
		delete(left, key)
		done[key] = true
	}
	for _, m := range o {
		if !done[m.name] && (!m.idle || m.always && keys == nil) {
			out = append(out, m)
			done[m.name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if !done[name] {
			out = append(out, member{name: name, raw: left[name]})
		}
	}
	return out
}

// encode writes the object without spaces; the bytes of the values stay.
func (o object) encode() json.RawMessage {
	text := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, quote(m.name)...)
		text = append(text, ':')
		text = append(text, m.raw...)
	}
	return append(text, '}')
}

// encode is JSON as other languages write it: "<" stays "<".
func encode(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return json.RawMessage("null") // only strings and plain structs come here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func quote(text string) json.RawMessage { return encode(text) }

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// asText returns the string that raw is.
func asText(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return text, json.Unmarshal(raw, &text) == nil
}
