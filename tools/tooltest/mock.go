package tooltest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"acp-agent/tools"
)

// Mock is a tool that answers the same each time and remembers what it was
// asked (R163). It is safe for concurrent use.
type Mock struct {
	tools.Tool

	mu     sync.Mutex
	inputs []json.RawMessage
}

// NewMock returns a Mock with an id and the data of its results.
func NewMock(id string, output any) *Mock {
	m := &Mock{Tool: tools.Tool{Spec: tools.Spec{ID: id, Description: "Mock tool " + id + "."}}}
	m.Tool.Run = func(_ context.Context, _ tools.Runtime, args tools.Args) (*tools.Result, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.inputs = append(m.inputs, slices.Clone(args.Raw()))
		return tools.Output(output), nil
	}
	return m
}

// CallCount is how often the tool ran.
func (m *Mock) CallCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.inputs)
}

// Inputs are the arguments of all calls, in order.
func (m *Mock) Inputs() []json.RawMessage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.inputs)
}
