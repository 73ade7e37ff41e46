package builtin

import (
	"encoding/json"

	"acp-agent/tools"
)

// pathOf reads the path in a call's arguments; "" when there is none.
func pathOf(args json.RawMessage) string {
	var a struct{ Path string }
	if json.Unmarshal(args, &a) != nil {
		return ""
	}
	return a.Path
}

// absolutePath is the preprocessing of tools with a path: "~" and relative
// paths become absolute, so that what is judged and shown is what is touched
// (R21, R24).
func absolutePath(args json.RawMessage, env tools.Env) (json.RawMessage, error) {
	return rewriteText(args, "path", env.Abs)
}

// rewriteText changes one argument that is a non-empty string. Arguments of
// another shape stay: the schema check names what is wrong with them.
func rewriteText(args json.RawMessage, key string, change func(string) string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	var value string
	if json.Unmarshal(args, &object) != nil || json.Unmarshal(object[key], &value) != nil || value == "" {
		return args, nil
	}
	changed := change(value)
	if changed == value {
		return args, nil
	}
	raw, err := json.Marshal(changed)
	if err != nil {
		return nil, err
	}
	object[key] = raw
	return json.Marshal(object)
}

// touches makes the Resources function of a tool with one path.
func touches(uses ...tools.ResourceKind) func(json.RawMessage, tools.Env) []tools.Resource {
	return func(args json.RawMessage, env tools.Env) []tools.Resource {
		resources := make([]tools.Resource, len(uses))
		for i, kind := range uses {
			resources[i] = tools.Resource{Kind: kind, Value: env.Abs(pathOf(args))}
		}
		return resources
	}
}

// fileProfile lets calls that write to one path wait for each other (R100).
func fileProfile() *tools.Profile {
	return &tools.Profile{Keys: func(args json.RawMessage, env tools.Env) []tools.ResourceKey {
		return []tools.ResourceKey{env.Key(pathOf(args), true)}
	}}
}

// treeKey is the key of reading everything beneath a path. For a file, that is
// the file (R102).
func treeKey(env tools.Env, path string) []tools.ResourceKey {
	key := env.Key(path, false)
	key.Tree = true
	return []tools.ResourceKey{key}
}
