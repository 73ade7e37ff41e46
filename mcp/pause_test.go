package mcp

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The time of a server's start stands still while the user is asked something for its program (R124).
func TestLink_PauseStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &link{id: "s"}
		m := &Manager{links: []*link{l}}
		var late atomic.Bool
		over := l.startWithin(startLimit, func() { late.Store(true) })
		resume := m.Pause(t.Context(), "s")
		m.Pause(t.Context(), "another")()
		time.Sleep(time.Hour)
		if resume(); late.Load() {
			t.Fatal("the start ended during the question")
		}
		time.Sleep(startLimit - time.Second)
		if late.Load() {
			t.Error("the start did not get its whole time after the question")
		}
		time.Sleep(2 * time.Second)
		if !late.Load() {
			t.Error("the start did not end after its time")
		}
		over()
		m.Pause(t.Context(), "s")() // nothing starts
	})
}
