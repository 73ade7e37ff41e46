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

// candidate is an entry of the plan, or a script of a toolbox, before and after it is mounted.
type candidate struct {
	name, at string
	// script says that it belongs to a toolbox.
	script bool
	config json.RawMessage
	module Module
	// builtin says that it is a tool of the agent's own.
	builtin bool
	// local is what has to be read before it is mounted, if anything.
	local *localTool
	// mustAsk says that only the executable can describe it; done is closed when it has answered.
	mustAsk bool
	done    chan struct{}
	// order is its place among all modules.
	order int
	err   error
}

func (o Options) find(entry Entry) candidate {
	switch {
	case !moduleName(entry.Module):
		return candidate{err: errModuleName}
	case entry.builtin():
		if module, ok := o.Builtin[entry.Module]; ok && module != nil {
			return candidate{module: module, builtin: true}
		}
		return failing("there is no built-in module of this name; there are %s",
			strings.Join(slices.Sorted(maps.Keys(o.Builtin)), ", "))
	case isLocal(entry.Source):
		dir, err := o.localDir(entry.Source)
		if err != nil {
			return candidate{err: err}
		}
		local := &localTool{dir: dir, config: entry.Config, o: o}
		return candidate{module: local.mount, local: local}
	}
	return failing("source %q is not on this machine: clone or download it to a local directory, "+
		"look at what it does, and name that directory as source", entry.Source)
}

func failing(format string, args ...any) candidate {
	return candidate{err: fmt.Errorf(format, args...)}
}
