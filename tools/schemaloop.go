package tools

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// maxApplied bounds how many schemas one value may be held against, so that
// references which double at each step cannot keep a check busy for hours.
const maxApplied = 10_000

// maxSchemaDepth bounds how deep schemas lie in each other, because the work of a check grows
// with each level.
const maxSchemaDepth = 200

// CheckSchemaLoops refuses a schema that refers to itself without going a level down
// in the value that it describes: checking a value against it never ends, and
// overflows the stack, which no recover catches. A schema that recurs with the
// value, such as that of a tree, is accepted. References other than JSON pointers cannot
// be followed here, so they are refused, and so is an $id, which changes their base.
func CheckSchemaLoops(raw json.RawMessage) error {
	l := loopFinder{applied: map[string]int{}}
	if err := json.Unmarshal(raw, &l.root); err != nil {
		return err
	}
	return l.walk("", l.root)
}

// underWay is in applied for a schema whose count is not complete.
const underWay = -1

// loopFinder looks for loops from every schema; paths are JSON pointers.
type loopFinder struct {
	root any
	// applied is how many schemas a value is held against, by the path of the
	// schema that it is given to.
	applied map[string]int
}

// walk follows each schema at or below node.
func (l *loopFinder) walk(path string, node any) error {
	switch node := node.(type) {
	case map[string]any:
		if _, ok := node["$id"].(string); ok && path != "" {
			return fmt.Errorf("the schema at #%s has an $id, which is not supported but at the top", path)
		}
		if ref, ok := node["$dynamicRef"].(string); ok {
			return fmt.Errorf("$dynamicRef %q is not supported", ref)
		}
		if _, err := l.follow(path); err != nil {
			return err
		}
		for key, value := range node {
			var err error
			switch key {
			case "enum", "const", "default", "examples": // plain data, whatever it looks like
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
				err = l.walkNamed(path+"/"+key, value)
			default:
				err = l.walk(path+"/"+pointerToken.Replace(key), value)
			}
			if err != nil {
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

// walkNamed walks each schema of an object whose keys are names.
func (l *loopFinder) walkNamed(path string, node any) error {
	named, _ := node.(map[string]any)
	for name, value := range named {
		if err := l.walk(path+"/"+pointerToken.Replace(name), value); err != nil {
			return err
		}
	}
	return nil
}

// follow goes to all schemas that describe the same value as the one at path,
// and counts them.
func (l *loopFinder) follow(path string) (applied int, err error) {
	if strings.Count(path, "/") > maxSchemaDepth {
		return 0, fmt.Errorf("its schemas lie more than %d levels deep in each other", maxSchemaDepth)
	}
	if applied = l.applied[path]; applied == underWay {
		return 0, fmt.Errorf("the schema at #%s refers to itself without end", path)
	}
	schema, ok := l.at(path).(map[string]any)
	if applied != 0 || !ok {
		return applied, nil
	}
	l.applied[path] = underWay
	others, err := sameValue(path, schema)
	if err != nil {
		return 0, err
	}
	applied = 1
	for _, next := range others {
		more, err := l.follow(next)
		if err != nil {
			return 0, err
		}
		if applied += more; applied > maxApplied {
			return 0, fmt.Errorf("the schema at #%s holds a value against more than %d schemas", path, maxApplied)
		}
	}
	l.applied[path] = applied
	return applied, nil
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
func (l *loopFinder) at(path string) any {
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
