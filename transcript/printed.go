package transcript

import (
	"slices"

	"acp-agent/internal/textcut"
)

// printedBytes bounds what is kept of the output of a command that did not end well.
const printedBytes = 64 << 10

// Printed collects what a running command prints, the end of it if it is much. The result of a
// command that ends well has its output; of one that does not, this is all that there is.
type Printed struct {
	text []byte
	cut  bool
}

// Add adds a piece of output, which is valid UTF-8.
func (p *Printed) Add(text string) {
	p.text = append(p.text, text...)
	if len(p.text) > 2*printedBytes { // not at each piece
		p.text, p.cut = slices.Clone(textcut.Last(p.text, printedBytes)), true
	}
}

// At returns what a call that ended in a state is to keep of its output.
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
