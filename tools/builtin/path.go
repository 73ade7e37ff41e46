package builtin

import "acp-agent/tools"

// pathed is implemented by the arguments of tools with one path.
type pathed interface{ path() string }

func (a deleteFileArgs) path() string   { return a.Path }
func (a editArgs) path() string         { return a.Path }
func (a formatFileArgs) path() string   { return a.Path }
func (a readArgs) path() string         { return a.Path }
func (a repoOverviewArgs) path() string { return a.Path }
func (a undoEditArgs) path() string     { return a.Path }
func (a viewImageArgs) path() string    { return a.Path }
func (a writeArgs) path() string        { return a.Path }

// absolutePath is the preprocessing of tools with a path: "~" and relative
// paths become absolute, so that what is judged and shown is what is touched
// (R21, R24).
func absolutePath(args map[string]any, env tools.Env) error {
	rewriteText(args, "path", env.Abs)
	return nil
}

// rewriteText changes one argument that is a non-empty string. Arguments of
// another type stay: the schema check names what is wrong with them.
func rewriteText(args map[string]any, name string, change func(string) string) {
	if text, ok := args[name].(string); ok && text != "" {
		args[name] = change(text)
	}
}

// touches makes the Resources function of a tool with one path.
func touches[A pathed](uses ...tools.ResourceKind) func(tools.Args, tools.Env) []tools.Resource {
	return func(args tools.Args, env tools.Env) []tools.Resource {
		resources := make([]tools.Resource, len(uses))
		for i, kind := range uses {
			resources[i] = tools.Resource{Kind: kind, Value: env.Abs(tools.ArgsAs[A](args).path())}
		}
		return resources
	}
}

// fileProfile lets calls that write to one path wait for each other (R100).
func fileProfile[A pathed]() *tools.Profile {
	return &tools.Profile{Keys: func(args tools.Args, env tools.Env) []tools.ResourceKey {
		return []tools.ResourceKey{env.Key(tools.ArgsAs[A](args).path(), true)}
	}}
}

// treeProfile lets calls that read what is beneath one path wait for calls that write there.
func treeProfile[A pathed]() *tools.Profile {
	return &tools.Profile{Keys: func(args tools.Args, env tools.Env) []tools.ResourceKey {
		return treeKey(env, tools.ArgsAs[A](args).path())
	}}
}

// treeKey is the key of reading everything beneath a path. For a file, that is
// the file (R102).
func treeKey(env tools.Env, path string) []tools.ResourceKey {
	key := env.Key(path, false)
	key.Tree = true
	return []tools.ResourceKey{key}
}
