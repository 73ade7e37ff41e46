package builtin

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"acp-agent/tools"
)

// The tables of what tools understand besides their schemas (tools.Accepts). The
// names are those of other agents' tools as their public sources, documentation
// and issue trackers have them; testdata/calls has calls with their addresses.

func to(name string) tools.Field { return tools.Field{To: name} }

func mapped(name string, change func(any) (any, error)) tools.Field {
	return tools.Field{To: name, Map: change}
}

func drop(why string) tools.Field { return tools.Field{Drop: why} }

// only leaves an argument out when it has one of the values that say nothing.
func only(refuse string, neutral ...any) tools.Field {
	return tools.Field{Refuse: refuse, Neutral: neutral}
}

// names are plain names of other agents.
func names(list ...string) []tools.ForeignName {
	all := make([]tools.ForeignName, len(list))
	for i, name := range list {
		all[i].Name = name
	}
	return all
}

// commandOfEditor are the names of the editor of several commands for one of them.
func commandOfEditor(command string) []tools.ForeignName {
	var all []tools.ForeignName
	for _, name := range []string{"str_replace_editor", "str_replace_based_edit_tool", "text_editor", "file_editor", "fs_write", "fs_read"} {
		all = append(all, tools.ForeignName{Name: name, When: map[string]string{"command": command}})
	}
	return all
}

// answers refuse calls of names with the words for the model.
func answers(words string, list ...string) []tools.ForeignName {
	all := names(list...)
	for i := range all {
		all[i].Answer = words
	}
	return all
}

// fields is a table; several names of it may stand before a colon-less list.
func fields(tables ...map[string]tools.Field) map[string]tools.Field {
	all := map[string]tools.Field{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// all gives several names the same field.
func all(f tools.Field, list ...string) map[string]tools.Field {
	table := map[string]tools.Field{}
	for _, name := range list {
		table[name] = f
	}
	return table
}

// pathNames are the names of the argument that is a file.
func pathNames() map[string]tools.Field {
	return fields(
		all(to("path"), "file_path", "filename", "file_name", "file", "target_file", "relative_path", "relative_workspace_path",
			"full_path", "absolute_file_path", "path_to_file", "file_location", "source_path"),
		all(mapped("path", theOnly("path")), "paths", "files", "file_paths", "targets"),
	)
}

// theOnly takes the only value of a list; several would be several calls.
func theOnly(name string) func(any) (any, error) {
	return func(value any) (any, error) {
		if text, ok := value.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "[") {
			_ = json.Unmarshal([]byte(text), &value) // what is not a list stays a text
		}
		list, ok := value.([]any)
		switch {
		case !ok:
			return value, nil
		case len(list) == 1:
			if object, ok := list[0].(map[string]any); ok && len(object) == 1 && object["path"] != nil {
				return object["path"], nil
			}
			return list[0], nil
		}
		return nil, fmt.Errorf("there can be one %s; make a call for each of them", name)
	}
}

// not turns a flag round.
func not(value any) (any, error) {
	switch v := value.(type) {
	case bool:
		return !v, nil
	case string:
		switch strings.ToLower(v) {
		case "true":
			return false, nil
		case "false":
			return true, nil
		}
	}
	return nil, fmt.Errorf("must be true or false")
}

// wholeNumber reads a number as models write it.
func wholeNumber(value any) (int64, bool) {
	text, ok := value.(string)
	if number, isNumber := value.(json.Number); isNumber {
		text, ok = number.String(), true
	}
	if !ok {
		return 0, false
	}
	var number float64
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &number) != nil || number != float64(int64(number)) {
		return 0, false
	}
	return int64(number), true
}

// pop takes an argument out; ok is false when it was not there.
func pop(args map[string]any, name string) (value any, ok bool) {
	value, ok = args[name]
	delete(args, name)
	return value, ok && value != nil
}

// popWhole takes a whole number out.
func popWhole(tool string, args map[string]any, name string) (number int64, given bool, err error) {
	value, given := pop(args, name)
	if !given {
		return 0, false, nil
	}
	number, ok := wholeNumber(value)
	if !ok {
		return 0, false, tools.Errorf(tools.BadInput, "%s: argument %q must be a whole number", tool, name)
	}
	return number, true, nil
}
