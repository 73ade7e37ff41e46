package workspace

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// Call is the files and commands of one tool call. It is safe for concurrent use.
type Call struct {
	w        *Workspace
	id, tool string
	sink     transcript.Sink
	// late calls go on while the session closes.
	late bool
	// over ends with the call; commands are bound to it.
	over     context.Context
	stop     context.CancelFunc
	commands *run.Commands

	mu       sync.Mutex
	progress func()
	scope    *capability.Compiled
	bound    func(Way) error
	text     splitter
	remarks  []string // on what became of the call's changes
}

// Call returns the ground of one call of a tool. Its output goes to sink as
// transcript events until Finish; nil shows it to nobody.
func (w *Workspace) Call(callID, tool string, sink transcript.Sink) *Call {
	return w.start(&Call{w: w, id: callID, tool: tool, sink: sink})
}

func (w *Workspace) start(c *Call) *Call {
	if c.sink == nil {
		c.sink = transcript.Discard
	}
	// The call is bounded by Finish and the session by Close, not by a request.
	c.over, c.stop = context.WithCancel(context.Background())
	c.commands = w.runner.Commands(run.Call{ID: c.id, Tool: c.tool, Over: c.over, ShowTerminal: c.showTerminal})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[c] = struct{}{}
	if w.closed && !c.late {
		c.stop()
	}
	return c
}

// Finish ends the call: what a tool that did not stop still prints, writes or
// runs is dropped, refused and stopped. Sidecars can be opened afterwards, for
// a result that is cut once it is known. Finish may be called more than once.
func (c *Call) Finish() {
	if !c.ended() {
		c.show(func() string { return c.text.flush() })
	}
	c.end()
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	delete(c.w.calls, c)
	for _, r := range c.w.grants[c.id] {
		_ = r.handle.Close() // only ever read through
	}
	delete(c.w.grants, c.id)
}

func (c *Call) end() { c.stop() }

func (c *Call) ended() bool { return c.over.Err() != nil }

// OnProgress sets what is called at each Progress, to restart a time limit
// (R103).
func (c *Call) OnProgress(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = f
}

// Progress shows output and restarts the call's time limit. The tail of a
// character that is not whole yet is held back.
func (c *Call) Progress(text []byte) {
	if c.ended() {
		return
	}
	c.mu.Lock()
	restart := c.progress
	c.mu.Unlock()
	if restart != nil {
		restart()
	}
	c.show(func() string { return c.text.add(text) })
}

// show emits in the order of arrival, which the lock keeps.
func (c *Call) show(next func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text := next(); text != "" && !c.ended() {
		c.sink.Emit(transcript.ToolOutput{CallID: c.id, Text: text})
	}
}

func (c *Call) showTerminal(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended() {
		c.sink.Emit(transcript.ToolTerminal{CallID: c.id, TerminalID: id})
	}
}

// tell adds a remark on what became of a change of the call.
func (c *Call) tell(remark string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remarks = append(c.remarks, remark)
}

// Remarks say what became of changes of the call that were made, but not as they were
// asked for.
func (c *Call) Remarks() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.remarks)
}

// CallID is the id of the call.
func (c *Call) CallID() string { return c.id }

// FS returns the files of the call.
func (c *Call) FS() tools.FS { return files{c} }

// Processes returns the commands of the call.
func (c *Call) Processes() tools.Processes { return c.commands }

// Commands are the same commands, for who judges the call.
func (c *Call) Commands() *run.Commands { return c.commands }

// Clock returns the workspace's clock.
func (c *Call) Clock() tools.Clock { return clock{c.w.o.Now} }

// Session describes the session.
func (c *Call) Session() tools.Session { return c.w.Session() }

type clock struct{ now func() time.Time }

// Now returns the time.
func (c clock) Now() time.Time { return c.now() }
