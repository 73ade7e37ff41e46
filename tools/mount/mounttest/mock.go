package mounttest

import (
	"context"
	"encoding/json"

	"acp-agent/tools"
	"acp-agent/tools/mount"
)

// MockCoordinator mounts modules without an agent. Each module is handed the
// same Coordinator as in the agent. It is not for concurrent use.
type MockCoordinator struct {
	mounting *mount.Mounting
	results  []Result
}

// Result is what became of one module.
type Result struct {
	Module string
	Err    error
}

// New returns a MockCoordinator. taken are names that no module may use, beside
// the locked ids.
func New(taken ...string) *MockCoordinator {
	return &MockCoordinator{mounting: mount.New(taken...)}
}

// Mount runs a module's mount function with a config of JSON text, empty for
// none, and records the outcome.
func (m *MockCoordinator) Mount(ctx context.Context, name string, module mount.Module, config string) error {
	var raw json.RawMessage
	if config != "" {
		raw = json.RawMessage(config)
	}
	err := m.mounting.Mount(ctx, name, module, raw)
	m.results = append(m.results, Result{Module: name, Err: err})
	return err
}

// Results are the modules in the order in which they were mounted, failures
// included.
func (m *MockCoordinator) Results() []Result { return m.results }

// Tools are the tools that stand mounted.
func (m *MockCoordinator) Tools() []tools.Tool { return m.mounting.Tools() }

// Names are the ids of the mounted tools.
func (m *MockCoordinator) Names() []string {
	var names []string
	for _, tool := range m.mounting.Tools() {
		names = append(names, tool.ID)
	}
	return names
}

// Tool returns a mounted tool by its id.
func (m *MockCoordinator) Tool(id string) (tools.Tool, bool) {
	for _, tool := range m.mounting.Tools() {
		if tool.ID == id {
			return tool, true
		}
	}
	return tools.Tool{}, false
}

// Contributions are the names that modules contributed to a channel.
func (m *MockCoordinator) Contributions(channel string) []string {
	return m.mounting.Contributions(channel)
}

// Close runs the cleanups, last first, once.
func (m *MockCoordinator) Close() error { return m.mounting.Close() }
