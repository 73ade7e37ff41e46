// Package observe tells subscribers what the agent does, as it does it:
// tool calls before and after, turns, approvals.
//
// It owns the [Bus], the names of the standard events, and the list of further
// names that modules say they publish. It refuses to know what an event means
// and who wants it: listening decides nothing, so a listener that fails, is
// slow or is gone changes nothing for the agent or for the other listeners.
// What must be decided (permissions, watchdogs) does not belong here.
//
// There is no replay: who subscribes late has missed what went before. Events
// carry names and numbers, never arguments or results of tools.
//
//	bus := observe.New(log)
//	defer bus.Close(ctx)
//	stop := bus.Subscribe("audit", func(e observe.Event) { record(e.Name, e.CallID) })
//	defer stop()
//	bus.Publish(observe.Event{Name: observe.ToolPre, CallID: "call_1", Tool: "read"})
//
// It imports the standard library. Every subscription has one goroutine, which
// waits for events and ends with the subscription or with [Bus.Close].
//
// # Requirements
//
// R131 (lifecycle events, many subscribers, contributed names), trap 61 (a
// subscriber that throws stops nothing).
package observe
