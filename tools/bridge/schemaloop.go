package bridge

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// schemaLoop refuses a schema that refers to itself without going a level down
// in the value that it describes: to check a value against it never ends, and
// no recover helps against the stack that it fills. Schemas that recur with the
// value, such as a tree's, are fine. Other references than JSON pointers cannot
// be followed here, and are refused too.
func schemaLoop(raw json.RawMessage) error {
	l := loops{state: map[string]visit{}}
	if err := json.Unmarshal(raw, &l.root); err != nil {
		return err
	}
	return l.walk("", l.root)
}

type visit int

const (
	underWay visit = iota + 1
	done
)

// loops looks for them from every schema; paths are JSON pointers.
type loops struct {
	root  any
	state map[string]visit
}

// walk begins at each object with a reference.
func (l *loops) walk(path string, node any) error {
	switch node := node.(type) {
	case map[string]any:
		if _, ok := node["$ref"].(string); ok {
			if err := l.follow(path); err != nil {
				return err
			}
		}
		if ref, ok := node["$dynamicRef"].(string); ok {
			return fmt.Errorf("$dynamicRef %q is not supported", ref)
		}
		for key, value := range node {
			if err := l.walk(path+"/"+pointerToken.Replace(key), value); err != nil {
				return err
			}
		}
	case []any:
		for i, value := range node {
			if err := l.walk(path+"/"+strconv.Itoa(i), value); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow goes to all schemas that describe the same value as the one at path.
func (l *loops) follow(path string) error {
	switch l.state[path] {
	case underWay:
		return fmt.Errorf("the schema at #%s refers to itself without end", path)
	case done:
		return nil
	}
	l.state[path] = underWay
	if schema, ok := l.at(path).(map[string]any); ok {
		beside, err := sameValue(path, schema)
		if err != nil {
			return err
		}
		for _, next := range beside {
			if err := l.follow(next); err != nil {
				return err
			}
		}
	}
	l.state[path] = done
	return nil
}

// sameValue are the paths of the schemas that a schema applies to its own value.
func sameValue(path string, schema map[string]any) (paths []string, err error) {
	if ref, ok := schema["$ref"].(string); ok {
		pointer, local := strings.CutPrefix(ref, "#")
		if pointer, err = url.PathUnescape(pointer); err != nil || !local || pointer != "" && pointer[0] != '/' {
			return nil, fmt.Errorf("$ref %q is not supported: references must be like #/$defs/name", ref)
		}
		paths = append(paths, pointer)
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		paths = append(paths, path+"/"+key)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[key].([]any)
		for i := range list {
			paths = append(paths, path+"/"+key+"/"+strconv.Itoa(i))
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		named, _ := schema[key].(map[string]any)
		for name := range named {
			paths = append(paths, path+"/"+key+"/"+pointerToken.Replace(name))
		}
	}
	return paths, nil
}

// at is the node of a path, nil when there is none.
func (l *loops) at(path string) any {
	node := l.root
	for _, token := range strings.Split(path, "/")[1:] {
		switch parent := node.(type) {
		case map[string]any:
			node = parent[plainToken.Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			node = parent[i]
		default:
			return nil
		}
	}
	return node
}

// The spelling of keys in JSON pointers.
var (
	pointerToken = strings.NewReplacer("~", "~0", "/", "~1")
	plainToken   = strings.NewReplacer("~1", "/", "~0", "~")
)
