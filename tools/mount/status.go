package mount

import (
	"slices"

	"acp-agent/tools"
)

// State is how far a module, or a script, has come.
type State string

// The states.
const (
	Waiting State = "not asked yet" // what it is, which it has to say itself
	Asking  State = "being asked"
	Ready   State = "ready"
	Failed  State = "failed"
)

// Status is how one of them stands.
type Status struct {
	// Name is the module's, or the path of the script, or of a toolbox that cannot be read.
	Name   string
	Script bool
	State  State
	// Tools are the ids of its tools; Problem says why it failed.
	Tools   []string
	Problem string
}

// Status says how the modules and the scripts stand, in the order of the plan; of the
// built-in ones only the failed.
func (m *Mounting) Status() []Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Status
	for _, module := range m.modules {
		if status := m.status(module); !module.builtin || status.State == Failed {
			list = append(list, status)
		}
	}
	return list
}

// status is that of one module. The caller holds mu.
func (m *Mounting) status(module *candidate) Status {
	status := Status{Name: module.name, Script: module.script, State: Ready, Tools: toolIDs(m.coordinator.toolsAt(module.order))}
	if module.mustAsk && !slices.Contains(m.mounted, module.name) {
		status.State = Waiting
		if m.asking.running() {
			status.State = Asking
		}
	}
	for _, failure := range m.failures {
		if failure.order == module.order {
			status.State, status.Problem = Failed, failure.Err.Error()
		}
	}
	return status
}

func toolIDs(list []tools.Tool) []string {
	var ids []string
	for _, tool := range list {
		ids = append(ids, tool.ID)
	}
	return ids
}
