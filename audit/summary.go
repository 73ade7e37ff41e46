package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxKept bounds a text that is kept, in bytes.
const maxKept = 4 << 10

// maxNumber bounds a number that is kept, in digits: no exact number of 64 bits has more.
const maxNumber = 24

// kept are the names of arguments whose texts are kept: paths, addresses, commands and choices. Others
// may hold contents of files.
var kept = []string{
	"path", "paths", "file", "files", "filepath", "file_path", "dir", "directory", "cwd", "cmd", "command", "argv",
	"url", "uri", "host", "query", "pattern", "filepattern", "glob", "include", "exclude", "name", "tool", "tools", "id", "ids",
	"skill", "repo", "repository", "ref", "branch", "action", "operation", "mode", "kind", "type", "format", "language",
	"method", "checks", "from", "to", "source", "target", "destination",
}

// Summary is what a record keeps of a call's arguments: numbers, truth values, and texts that name
// something. Other texts, and long ones, are replaced by their hash and size. clean removes secrets.
func Summary(args any, clean func(string) string) json.RawMessage {
	if args == nil {
		return nil
	}
	data, err := json.Marshal(summary(args, false, clean))
	if err != nil {
		return digest(fmt.Sprint(args))
	}
	return data
}

func summary(value any, keep bool, clean func(string) string) any {
	switch value := value.(type) {
	case string:
		if keep && len(value) <= maxKept {
			return clean(value)
		}
		return digest(value)
	case json.Number:
		// The model wrote the digits: they may be long, or a secret.
		if text := string(value); len(text) > maxNumber || clean(text) != text {
			return digest(text)
		}
	case []any:
		list := make([]any, len(value))
		for i, v := range value {
			list[i] = summary(v, keep, clean)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(value))
		for name, v := range value {
			object[clean(name)] = summary(v, slices.Contains(kept, strings.ToLower(name)), clean)
		}
		return object
	}
	return value
}

// digest is the hash and size of a text.
func digest(text string) json.RawMessage {
	data, _ := json.Marshal(Cut{Bytes: len(text), Hash: hashOf([]byte(text))}) // a number and a text always encode
	return data
}
