package app

import (
	"io"
	"testing"
)

// BenchmarkAssemble puts the agent together, which the first session waits for: its
// configuration, and its tools through the door of the modules.
func BenchmarkAssemble(b *testing.B) {
	for b.Loop() {
		c := newCore(io.Discard)
		c.readOnly = true // nothing is written, fetched or started
		if _, err := c.assemble(); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
