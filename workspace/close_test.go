package workspace

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// crowd is a call that has changed many files.
func crowd(t *testing.T, g *fixture) *Call {
	t.Helper()
	c := g.Call("call_1", "apply_patch", nil)
	for i := range 20 {
		name := fmt.Sprintf("f%02d", i)
		put(t, g.in(name), "old\n")
		if err := c.FS().WriteText(t.Context(), name, "new\n", nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestClose_LetsRollbackFinish closes the session in the middle of a rollback,
// and between the change and its rollback, while the files are still locked.
func TestClose_LetsRollbackFinish(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"rolling back", "locked"} {
		t.Run(when, func(t *testing.T) {
			reached, goOn := make(chan struct{}), make(chan struct{})
			var slow bool
			g := newFixture(t, func(o *Options) {
				o.fault = func(step string) error {
					if slow && step == "rename" {
						slow = false // once, and by the one goroutine that rolls back
						close(reached)
						<-goOn
					}
					return nil
				}
			})
			before := map[string]string{}
			c := crowd(t, g)
			for name := range tree(t, g.cwd) {
				before[name] = "-rw-r--r-- old\n"
			}
			unlock, err := c.FS().Lock(t.Context(), "f00")
			if err != nil {
				t.Fatal(err)
			}
			rolled := make(chan []error, 1)
			roll := func() {
				failed := c.Changes().Rollback(t.Context())
				unlock()
				rolled <- failed
			}
			if when == "rolling back" {
				slow = true
				go roll()
				<-reached
			}
			closed := make(chan struct{})
			go func() {
				g.Close(0)
				close(closed)
			}()
			<-c.over.Done() // Close has started
			if err := c.FS().WriteText(t.Context(), "f00", "more\n", nil); err == nil {
				t.Error("a call of a closed session went on to write")
			}
			close(goOn)
			if when == "locked" {
				go roll()
			}
			if failed := <-rolled; len(failed) > 0 {
				t.Error(failed)
			}
			<-closed
			same(t, "tree", tree(t, g.cwd), before)
			if left, err := os.ReadDir(g.state); err != nil || len(left) > 0 {
				t.Errorf("left in the state directory: %v, %v", left, err)
			}
		})
	}
}

// TestClose_RollbackAfterwards is refused, for the pre-images are gone.
func TestClose_RollbackAfterwards(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	c := crowd(t, g)
	g.Close(0)
	if failed := c.Changes().Rollback(t.Context()); len(failed) != 20 {
		t.Errorf("failures %v", failed)
	}
	if _, err := c.FS().Lock(t.Context(), "f00"); err == nil {
		t.Error("a file was locked after Close")
	}
}

// TestInFlight_Finish waits for work in flight, and for no longer than it may.
func TestInFlight_Finish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &Workspace{shared: &shared{}}
		start := time.Now()
		w.finish()
		same(t, "waited for nothing", time.Since(start), time.Duration(0))
		if _, ok := w.inFlight.start(); ok {
			t.Error("something start after the end")
		}

		w = &Workspace{shared: &shared{}}
		one, _ := w.inFlight.start()
		other, _ := w.inFlight.start()
		time.AfterFunc(time.Second, one)
		time.AfterFunc(2*time.Second, other)
		start = time.Now()
		w.finish()
		same(t, "waited for both", time.Since(start), 2*time.Second)

		w = &Workspace{shared: &shared{calls: map[*Call]struct{}{}}}
		if _, ok := w.inFlight.start(); !ok {
			t.Fatal("nothing can start")
		}
		c := w.newCall("", "", nil, true)
		start = time.Now()
		w.finish()
		same(t, "waited for what hangs", time.Since(start), finishWait)
		if !c.ended() {
			t.Error("what hangs may go on")
		}
	})
}
