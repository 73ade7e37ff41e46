package builtin

import (
	"slices"
	"strings"
	"sync"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// catalogue is the registry of the tools with the default options, for questions about
// their definitions.
var catalogue = sync.OnceValue(func() *tools.Registry {
	r, err := tools.NewRegistry(All()...)
	if err != nil {
		panic(err) // a bug in a tool, which its test finds
	}
	return r
})

// Known reports whether an id is that of a tool of the agent's own.
func Known(id string) bool {
	_, own := specOf(id)
	return own
}

func specOf(id string) (tools.Spec, bool) {
	tool, own := catalogue().Get(id)
	if !own {
		return tools.Spec{}, false
	}
	return tool.Spec, true
}

// Kind returns the kind of the tool of the agent's own that has this id, Other when none
// has it.
func Kind(id string) kinds.Kind {
	if spec, own := specOf(id); own {
		return spec.Kind
	}
	return kinds.Other
}

// shownOrder is the order in which the shipped rules are shown to the user. A tool that is not
// in it follows in the order of All. It decides nothing: of two rules the more specific
// one counts.
var shownOrder = strings.Fields(`
	read glob grep finder web_search todo skill tool_search question undo_edit read_thread find_thread task_list
	task oracle librarian kraken repo_overview view_image plan
	bash write edit delete_file apply_patch repo_clone web_fetch plan_exit check lsp format_file`)

// Defaults lists the default rules of the agent's own tools.
func Defaults() []capability.ToolDefault {
	var list []capability.ToolDefault
	for _, id := range shownOrder {
		spec, _ := specOf(id)
		list = append(list, capability.ToolDefault{Tool: id, Default: spec.Default})
	}
	for _, tool := range catalogue().All() {
		if !slices.Contains(shownOrder, tool.ID) {
			list = append(list, capability.ToolDefault{Tool: tool.ID, Default: tool.Default})
		}
	}
	return list
}
