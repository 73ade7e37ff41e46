package oauth

import (
	"sync"
	"testing"
)

// A page that guesses without end does not keep the browser's answer out.
func TestCallback_GuessesAreNotInTheWay(t *testing.T) {
	c := &callback{}
	var guessing sync.WaitGroup
	end := make(chan struct{})
	for range 4 {
		guessing.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					if c.claim("guess") {
						t.Error("a guess is taken")
						return
					}
				}
			}
		})
	}
	lost := 0
	for range 200000 {
		c.expect("state")
		if !c.claim("state") {
			lost++
			c.expect("")
		}
	}
	close(end)
	guessing.Wait()
	if lost > 0 {
		t.Errorf("%d answers were turned away", lost)
	}
	if c.claim("") {
		t.Error("an answer without state is taken while none is waited for")
	}
}
