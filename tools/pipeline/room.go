package pipeline

import (
	"fmt"

	"acp-agent/tools"
	"acp-agent/transcript"
)

// The sizes of results by the model's window, which is in tokens.
const (
	// fullWindow is the window from which on a result has all of Limits.ModelBytes; a
	// smaller one gives less in proportion, down to leastRoom. It stands for a window that
	// is not known, too.
	fullWindow = 128_000
	leastRoom  = 4 << 10
	// bytesPerToken is the estimate of loop. Text that is dense, such as base64, has about
	// two bytes a token: hence the results of a step have half of what is free.
	bytesPerToken = 4
	// leastShare is the room of a result whatever happens.
	leastShare = 256
)

// Room is how many bytes the model may be given of each result of a step: how large its
// window is and how much of that is used, in tokens, and how many calls the step has. The
// results of one step together take no more than a quarter of the window and half of what
// is free of it. 0 means that the window bounds nothing.
func (p *Pipeline) Room(window, used, calls int) int {
	most := p.Limits.ModelBytes
	if most <= 0 {
		return 0
	}
	if window <= 0 {
		window, used = fullWindow, 0
	}
	each := max(int(int64(most)*int64(min(window, fullWindow))/fullWindow), min(most, leastRoom))
	step := min(window/4, max(window-used, 0)/2) * bytesPerToken
	return max(min(each, step/max(calls, 1)), leastShare)
}

// fitWindow cuts what the model reads of a call to the room that there is for it, and keeps
// the whole in a sidecar unless the tool can show the rest or has kept it. The tool's data,
// what is said of them, and what the editor shows stay as they are.
func (e *ending) fitWindow(end *transcript.ToolFinished) {
	if e.Room <= 0 || len(end.Text) <= e.Room {
		return
	}
	whole := e.clean(end.Text) // before it is cut: half a key would not be known as one
	if end.Shown == "" {
		end.Shown = end.Text
	}
	end.Text = tools.Fit(whole, e.Room, e.rest(whole, end))
}

// rest says where the rest of a result is.
func (e *ending) rest(whole string, end *transcript.ToolFinished) string {
	if e.entry != nil && e.entry.Rest != "" && end.Result.Error == nil {
		return e.entry.Rest
	}
	path := end.Result.Metadata.OutputPath
	if path == "" {
		kept, err := e.spill(whole)
		if err != nil {
			return fmt.Sprintf("it could not be kept: %v", err)
		}
		path, end.Result.Metadata.OutputPath = kept, kept
	}
	return "the whole result is in " + path
}
