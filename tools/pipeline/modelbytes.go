package pipeline

import (
	"fmt"

	"acp-agent/tools"
	"acp-agent/transcript"
)

// The size of a result depends on the model's window, which is in tokens.
const (
	// fullWindow is the smallest window in which a result may have all of Limits.ModelBytes.
	// In a smaller window it may have proportionally less, but no less than
	// smallWindowBytes. An unknown window counts as a full one.
	fullWindow       = 128_000
	smallWindowBytes = 4 << 10
	// bytesPerToken is the estimate that loop uses. Dense text, such as base64, has about two
	// bytes a token, so the results of a step get only half of the free part of the window.
	bytesPerToken = 4
	// leastBytes is what a result may always have.
	leastBytes = 256
)

// ModelBytes returns how many bytes of each result of a step the model may be given. window is
// the size of its window and used the used part, both in tokens; calls is the number of calls
// in the step. The results of one step together take at most a quarter of the window and half of
// its free part. 0 means that there is no bound.
func (p *Pipeline) ModelBytes(window, used, calls int) int {
	most := p.Limits.ModelBytes
	if most <= 0 {
		return 0
	}
	if window <= 0 {
		window, used = fullWindow, 0
	}
	each := max(int(int64(most)*int64(min(window, fullWindow))/fullWindow), min(most, smallWindowBytes))
	step := min(window/4, max(window-used, 0)/2) * bytesPerToken
	return max(min(each, step/max(calls, 1)), leastBytes)
}

// fitWindow cuts the text for the model to Call.ModelBytes, and keeps the whole in a sidecar unless
// the tool can show the rest or has kept it. The tool's data and the text that the editor shows
// stay whole.
func (e *ending) fitWindow(end *transcript.ToolFinished) {
	if e.ModelBytes <= 0 || len(end.Text) <= e.ModelBytes {
		return
	}
	whole := e.redact(end.Text) // before it is cut: half a key would not be known as one
	if end.Shown == "" {
		end.Shown = end.Text
	}
	end.Text = tools.Fit(whole, e.ModelBytes, e.rest(whole, end))
}

// rest tells the model where to find the rest of a result.
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
