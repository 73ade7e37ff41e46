package mount

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// builtinSource is the source of the modules that the caller has.
const builtinSource = "builtin"

// found is the module of an entry, or a script of a toolbox.
type found struct {
	name, at string
	// script says that it is of a toolbox.
	script bool
	config json.RawMessage
	module Module
	// inside says that it is one of ours.
	inside bool
	// local is what has to be read before it is mounted, if anything.
	local *localTool
	// late says that it has to be asked what it is, and done is closed then.
	late bool
	done chan struct{}
	// order is its place among all modules.
	order int
	err   error
}

func (o Options) find(entry Entry) found {
	switch {
	case !moduleName(entry.Module):
		return found{err: errModuleName}
	case entry.builtin():
		if module, ok := o.Builtin[entry.Module]; ok && module != nil {
			return found{module: module, inside: true}
		}
		return failing("there is no built-in module of this name; there are %s",
			strings.Join(slices.Sorted(maps.Keys(o.Builtin)), ", "))
	case local(entry.Source):
		dir, err := o.localDir(entry.Source)
		if err != nil {
			return found{err: err}
		}
		local := &localTool{dir: dir, config: entry.Config, o: o}
		return found{module: local.mount, local: local}
	}
	return failing("source %q is not on this machine: clone or download it to a local directory, "+
		"look at what it does, and name that directory as source", entry.Source)
}

func failing(format string, args ...any) found { return found{err: fmt.Errorf(format, args...)} }
