package transcript

import (
	"slices"

	"acp-agent/internal/textcut"
)

// printedBytes bounds the output that Printed keeps.
const printedBytes = 64 << 10

// Printed collects the end of the output of a running command, for a call whose result will not have it:
// only the result of a call that is done has the output.
type Printed struct {
	text []byte
	cut  bool
}

// Add adds a piece of output, which is valid UTF-8.
func (p *Printed) Add(text string) {
	p.text = append(p.text, text...)
	if len(p.text) > 2*printedBytes { // so that not every piece copies the text
		p.text, p.cut = slices.Clone(textcut.Last(p.text, printedBytes)), true
	}
}

// At returns the output that a call keeps that has ended in a state.
func (p *Printed) At(state State) string {
	if state == Done {
		return ""
	}
	end := textcut.Last(p.text, printedBytes)
	if p.cut || len(end) < len(p.text) {
		return "…" + string(end)
	}
	return string(end)
}
