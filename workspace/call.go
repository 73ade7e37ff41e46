package workspace

import (
	"context"
	"time"

	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// Call is the files and commands of one tool call. It is safe for concurrent use.
type Call struct {
	w *Workspace
	walker
	output
	disk disk
	// late says that the call may run while the session closes.
	late     bool
	stop     context.CancelFunc
	commands *run.Commands
}

// Call returns the files and commands of one call of a tool. Its output goes to sink as
// transcript events until Finish; nil shows it to no one.
func (w *Workspace) Call(callID, tool string, sink transcript.Sink) *Call {
	return w.newCall(callID, tool, sink, false)
}

func (w *Workspace) newCall(callID, tool string, sink transcript.Sink, late bool) *Call {
	if sink == nil {
		sink = transcript.Discard
	}
	// The call is bounded by Finish and the session by Close, not by a request.
	over, stop := context.WithCancel(context.Background())
	c := &Call{
		w: w, late: late, stop: stop,
		walker: walker{check: &w.checker, id: callID, tool: tool, over: over},
		output: output{callID: callID, sink: sink, done: over},
	}
	c.disk = disk{leftovers: w.leftovers, ended: c.ended, fault: w.o.fault}
	c.commands = w.runner.Commands(run.Call{ID: callID, Tool: tool, Context: over, ShowTerminal: c.showTerminal})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[c] = struct{}{}
	if w.closed && !late {
		c.stop()
	}
	return c
}

// Finish ends the call: what a tool that did not stop still prints, writes or
// runs is dropped, refused and stopped. Sidecars can be opened afterwards, for
// a result that is cut once it is known. Finish may be called more than once.
func (c *Call) Finish() {
	if !c.ended() {
		c.show(func() string { return c.text.Flush() })
	}
	c.end()
	c.w.opened.finish(c.id)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	delete(c.w.calls, c)
}

func (c *Call) end() { c.stop() }

// CallID is the id of the call.
func (c *Call) CallID() string { return c.id }

// FS returns the files of the call.
func (c *Call) FS() tools.FS { return c.files() }

func (c *Call) files() files { return files{Call: c, view: view{c}} }

// Processes returns the commands of the call.
func (c *Call) Processes() tools.Processes { return c.commands }

// Commands are the same commands, with what judging the call needs.
func (c *Call) Commands() *run.Commands { return c.commands }

// Clock returns the workspace's clock.
func (c *Call) Clock() tools.Clock { return clock{c.w.o.Now} }

// Session describes the session.
func (c *Call) Session() tools.Session { return c.w.Session() }

type clock struct{ now func() time.Time }

// Now returns the time.
func (c clock) Now() time.Time { return c.now() }
