package workspace

import (
	"context"
	"slices"
	"sync"

	"acp-agent/internal/textcut"
	"acp-agent/transcript"
)

// output is what a call shows while it runs, and what it has to say of its changes. It
// is safe for concurrent use.
type output struct {
	callID string
	sink   transcript.Sink
	done   context.Context // ends with the call

	mu       sync.Mutex
	progress func()
	text     textcut.Splitter
	remarks  []string // on what became of the call's changes
}

// OnProgress sets what is called at each Progress, to restart a time limit
// (R103).
func (o *output) OnProgress(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.progress = f
}

// Progress shows output and restarts the call's time limit. The tail of a
// character that is not whole yet is held back.
func (o *output) Progress(text []byte) {
	if o.done.Err() != nil {
		return
	}
	o.mu.Lock()
	restart := o.progress
	o.mu.Unlock()
	if restart != nil {
		restart()
	}
	o.show(func() string { return o.text.Add(text) })
}

// show emits in the order of arrival, which the lock keeps.
func (o *output) show(next func() string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if text := next(); text != "" && o.done.Err() == nil {
		o.sink.Emit(transcript.ToolOutput{CallID: o.callID, Text: text})
	}
}

func (o *output) showTerminal(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done.Err() == nil {
		o.sink.Emit(transcript.ToolTerminal{CallID: o.callID, TerminalID: id})
	}
}

// tell adds a remark on what became of a change of the call.
func (o *output) tell(remark string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remarks = append(o.remarks, remark)
}

// Remarks say what became of changes of the call that were made, but not as they were
// asked for.
func (o *output) Remarks() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.remarks)
}
