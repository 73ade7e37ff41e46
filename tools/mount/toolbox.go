package mount

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/capability"
	"acp-agent/tools"
)

// ToolboxPrefix begins the ids of the tools of toolboxes (R93).
const ToolboxPrefix = "tb__"

// maxScripts bounds the executables of one toolbox: each is started when the agent
// is.
const maxScripts = 64

// Toolbox is the user's directories of executables, each of which is a tool and
// describes itself (R93). The zero value has none.
type Toolbox struct {
	// Dirs are absolute. Those of Usual need not be there.
	Dirs, Usual []string
	// Env are NAME=value entries that scripts have when they are called, and not yet
	// when they are asked to describe themselves.
	Env []string
	// Network lets the calls of scripts reach the network.
	Network bool

	// files are single scripts, absolute, for Validate.
	files []string
}

// find returns the scripts of all directories as modules, with what is wrong in
// between. A directory is looked into once.
func (b Toolbox) find() []candidate {
	var all []candidate
	seen := map[string]bool{}
	look := func(dir string, must bool) {
		real, err := filepath.EvalSymlinks(dir)
		if errors.Is(err, fs.ErrNotExist) && !must || err == nil && seen[real] {
			return
		}
		var names []string
		if err == nil {
			seen[real] = true
			names, err = scripts(real)
		}
		if err != nil {
			all = append(all, candidate{name: dir, script: true, err: err})
		}
		for _, name := range names {
			all = append(all, b.script(real, name))
		}
	}
	for _, dir := range b.Dirs {
		look(dir, true)
	}
	for _, dir := range b.Usual {
		look(dir, false)
	}
	for _, file := range b.files {
		all = append(all, b.script(filepath.Dir(file), filepath.Base(file)))
	}
	return all
}

// script is one script of a directory whose links are resolved.
func (b Toolbox) script(dir, name string) candidate {
	local := &localTool{dir: dir, script: name, toolbox: b}
	return candidate{name: filepath.Join(dir, name), script: true, module: local.mount, local: local}
}

// scripts are the names of the executable files in a directory, sorted. What else
// lies there, such as a text that explains them, is left aside.
func scripts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, entry.Name()))
		if err != nil || !info.Mode().IsRegular() || !isExecutable(entry.Name(), info) {
			continue
		}
		names = append(names, entry.Name())
	}
	if len(names) > maxScripts {
		return nil, fmt.Errorf("it holds %d executables, more than %d; none is used", len(names), maxScripts)
	}
	return names, nil
}

// dirs are the directories that are there, with links resolved.
func (b Toolbox) dirs() []string {
	var dirs []string
	for _, list := range [][]string{b.Dirs, b.Usual} {
		for _, dir := range list {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dirs = append(dirs, real)
			}
		}
	}
	return dirs
}

// markToolbox adds to a script's tool what is special to toolboxes.
func (l *localTool) markToolbox(spec *tools.Spec) {
	spec.Source = tools.Source{Kind: tools.Toolbox, Server: l.script}
	spec.SubagentTypes = l.manifest.subagentTypes
	if l.toolbox.Network {
		spec.Requires.Net = capability.Net{Hosts: []string{"*"}}
	}
}

// asLines are arguments in lines, for a program that described itself in lines.
func asLines(names []string, args json.RawMessage) ([]byte, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(args, &values); err != nil {
		return nil, tools.Errorf(tools.BadInput, "the arguments must be an object: %v", err)
	}
	var b strings.Builder
	for _, name := range names {
		raw, given := values[name]
		if !given {
			continue
		}
		value := string(raw)
		var text string
		if err := json.Unmarshal(raw, &text); err == nil {
			value = text
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, &tools.Error{
				Kind: tools.BadInput, Message: fmt.Sprintf("%s: this tool takes text of one line only", name),
				Detail: "A script that describes itself in JSON takes any text.",
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", name, value)
	}
	return []byte(b.String()), nil
}
