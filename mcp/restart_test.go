package mcp

import (
	"sync"
	"testing"
)

// A connection that is made as fast as can be is ready, and does not count as connecting
// because the restart that asked for it is not over yet.
func TestLink_RestartThenReady(t *testing.T) {
	l := &link{manager: New(Options{}), signer: newSigner(nil, nil), tried: make(chan struct{}), listed: make(chan struct{})}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	for range 4 { // keep the lock busy, so that the goroutines overtake each other
		watching.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					l.status()
				}
			}
		})
	}
	defer watching.Wait()
	defer close(stop)
	for round := range 2000 {
		connected := make(chan struct{})
		go func() { // ends with the restart
			defer close(connected)
			<-l.wake
			l.resolve(Ready, nil)
		}()
		l.restart()
		<-connected
		if state := l.status().State; state != Ready {
			t.Fatalf("round %d: the server is %s after it connected, want %s", round, state, Ready)
		}
	}
}

// What an attempt finds out counts no more once a restart was asked for during it.
func TestLink_OutcomeBeforeRestart(t *testing.T) {
	l := &link{manager: New(Options{}), signer: newSigner(nil, nil), tried: make(chan struct{}), listed: make(chan struct{})}
	l.restart()
	if l.resolve(Failed, errEnded) || l.status().State != Connecting {
		t.Errorf("the server is %s after an attempt that the restart made void, want %s", l.status().State, Connecting)
	}
	l.startAttempt()
	if !l.resolve(Ready, nil) || l.status().State != Ready {
		t.Errorf("the server is %s after the attempt of the restart, want %s", l.status().State, Ready)
	}
}
