package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// leaf is a string in a JSON text: where its literal stands, and its path.
type leaf struct {
	start, end int
	path, name string
	text       string
}

// growing are the names under which model servers and the protocol send texts in pieces.
func growing() []string {
	return []string{
		"text", "content", "delta", "reasoning", "reasoning_content", "reasoning_text", "thinking", "arguments", "partial_json",
		"refusal", "data", "Text", "Arguments",
	}
}

// leaves are the strings of a JSON text whose names are those of growing texts.
func leaves(text []byte) (list []leaf) {
	names := growing()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var path []string // names and indexes down to the current value
	var arrays []bool
	key := true // the next string of an object is a name
	for {
		before := int(decoder.InputOffset())
		token, err := decoder.Token()
		if err != nil {
			return list
		}
		inObject := len(arrays) > 0 && !arrays[len(arrays)-1]
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			path, arrays = path[:len(path)-1], arrays[:len(arrays)-1]
			key = true
			continue
		}
		if name, ok := token.(string); ok && inObject && key {
			path[len(path)-1], key = name, false
			continue
		}
		if len(arrays) > 0 && arrays[len(arrays)-1] {
			n, _ := strconv.Atoi(path[len(path)-1]) // "" is before the first
			path[len(path)-1] = strconv.Itoa(n + 1)
		}
		key = true
		switch token := token.(type) {
		case json.Delim:
			path, arrays = append(path, ""), append(arrays, token == '[')
		case string:
			name := ""
			if len(path) > 0 {
				name = path[len(path)-1]
			}
			if slices.Contains(names, name) {
				end := int(decoder.InputOffset())
				start := before + bytes.IndexByte(text[before:end], '"')
				list = append(list, leaf{start: start, end: end, path: strings.Join(path, "."), name: name, text: token})
			}
		}
	}
}
