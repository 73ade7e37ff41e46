package launch

import (
	"testing"
	"time"
)

// A server's whole tree ends with it (X4).
func TestStartPiped_WholeTree(t *testing.T) {
	t.Parallel()
	nap := nap()
	errs := newOutput()
	p := startPiped(t, "(setsid "+nap+" >/dev/null 2>&1 &); echo up >&2; "+nap, errs)
	<-errs.wrote
	var g Group
	g.Add(p.Process)
	g.Close(100 * time.Millisecond)
	<-p.Done()
	if n := sleeping(t, nap); n != 0 {
		t.Errorf("%d processes left", n)
	}
}
