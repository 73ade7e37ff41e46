package v1

import (
	"sync"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
)

var builtins = sync.OnceValue(func() *tools.Registry {
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		panic(err)
	}
	return registry
})

// label is the card of a call of a tool whose arguments are not known yet.
func label(tool string) kinds.Card {
	_, card := builtins().Label(tool)
	return card
}
