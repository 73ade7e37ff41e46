package sandbox

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestProbe_FindsOnce(t *testing.T) {
	var calls atomic.Int32
	release := make(chan struct{})
	p := NewProbe(func(context.Context) Report {
		calls.Add(1)
		<-release
		return Report{Kind: Landlock}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("Wait with an ended context returned %v, want Canceled", err)
	}
	if _, known := p.Known(); known {
		t.Fatal("Known before the finding was made")
	}
	close(release)
	for range 2 {
		if r, err := p.Wait(t.Context()); err != nil || r.Kind != Landlock || !r.Confines() {
			t.Fatalf("Wait = %+v, %v", r, err)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Fatalf("found out %d times, want once", n)
	}
}

// TestProbe_Stopped holds that an agent which ends starts nothing outside the sandbox.
func TestProbe_Stopped(t *testing.T) {
	p := NewProbe(func(context.Context) Report { return Report{Kind: Landlock} })
	p.Stop()
	if r, err := p.Wait(t.Context()); err != nil || r.Confines() || r.Refused == "" {
		t.Fatalf("Wait = %+v, %v", r, err)
	}
	if _, err := (&Box{Probe: p}).Confine(t.Context(), Request{}); err == nil {
		t.Fatal("a command would run unconfined")
	}
}

func TestProbe_Nil(t *testing.T) {
	var p *Probe
	p.Start(t.Context())
	if r, err := p.Wait(t.Context()); err != nil || r.Confines() {
		t.Fatalf("Wait = %+v, %v", r, err)
	}
	if _, known := p.Known(); !known {
		t.Fatal("a nil Probe has nothing to find out")
	}
}
