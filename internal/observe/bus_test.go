package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"acp-agent/internal/observe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder keeps the names of the events it saw.
type recorder struct {
	mu    sync.Mutex
	names []string
}

func (r *recorder) see(e observe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, e.Name)
}

func (r *recorder) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.names...)
}

// closeBus ends the bus and fails the test when a subscriber stays.
func closeBus(t *testing.T, bus *observe.Bus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := bus.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestBus_TellsEverySubscriberInOrder(t *testing.T) {
	bus := observe.New(nil)
	var a, b recorder
	bus.Publish(observe.Event{Name: "before"})
	bus.Subscribe("a", a.see)
	bus.Subscribe("b", b.see)
	var want []string
	for i := range 100 {
		name := fmt.Sprint(i)
		want = append(want, name)
		bus.Publish(observe.Event{Name: name})
	}
	closeBus(t, bus)
	bus.Publish(observe.Event{Name: "after"})
	for _, got := range [][]string{a.seen(), b.seen()} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
}

func TestBus_FillsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := observe.New(nil)
		got := make(chan observe.Event, 2)
		bus.Subscribe("a", func(e observe.Event) { got <- e })
		given := time.Unix(7, 0)
		bus.Publish(observe.Event{Name: observe.ToolPre})
		bus.Publish(observe.Event{Name: observe.ToolPost, At: given})
		closeBus(t, bus)
		if at := (<-got).At; !at.Equal(time.Now()) {
			t.Errorf("an event without time got %v, want now", at)
		}
		if at := (<-got).At; !at.Equal(given) {
			t.Errorf("an event with a time got %v, want %v", at, given)
		}
	})
}

func TestBus_SubscribersDoNotHarmEachOther(t *testing.T) {
	var log bytes.Buffer
	bus := observe.New(slog.New(slog.NewTextHandler(&log, nil)))
	var good recorder
	panicked := 0
	bus.Subscribe("thrower", func(observe.Event) { panicked++; panic("no") })
	bus.Subscribe("leaver", func(observe.Event) { runtime.Goexit() })
	bus.Subscribe("changer", func(e observe.Event) { e.Fields["n"] = "changed" })
	var fields []any
	bus.Subscribe("good", func(e observe.Event) { good.see(e); fields = append(fields, e.Fields["n"]) })
	for i := range 3 {
		bus.Publish(observe.Event{Name: observe.ToolPre, Fields: map[string]any{"n": i}})
	}
	closeBus(t, bus)

	if diff := cmp.Diff([]any{0, 1, 2}, fields); diff != "" {
		t.Errorf("fields of the good subscriber (-want +got):\n%s", diff)
	}
	if panicked != 3 {
		t.Errorf("the panicking subscriber was called %d times, want 3", panicked)
	}
	if n := strings.Count(log.String(), "subscriber=thrower"); n != 1 {
		t.Errorf("the panic was logged %d times, want once:\n%s", n, log.String())
	}
}

func TestBus_NeverWaits(t *testing.T) {
	var log bytes.Buffer
	bus := observe.New(slog.New(slog.NewTextHandler(&log, nil)))
	entered, release := make(chan bool, 1), make(chan bool)
	var slow, quick recorder
	bus.Subscribe("slow", func(e observe.Event) {
		select {
		case entered <- true:
		default:
		}
		<-release
		slow.see(e)
	})
	heard := make(chan bool)
	bus.Subscribe("quick", func(e observe.Event) { quick.see(e); heard <- true })
	const events = 1000
	for range events { // returns although the slow one stands still
		bus.Publish(observe.Event{Name: observe.ToolPre})
		<-heard
	}
	<-entered
	close(release)
	closeBus(t, bus)

	if n := len(quick.seen()); n != events {
		t.Errorf("the quick subscriber saw %d events, want %d", n, events)
	}
	if n := len(slow.seen()); n < 256 || n > 258 {
		t.Errorf("the slow subscriber saw %d events, want its queue of 256 and those before", n)
	}
	if n := strings.Count(log.String(), "missed events"); n != 1 {
		t.Errorf("the loss was logged %d times, want once:\n%s", n, log.String())
	}
}

func TestBus_Unsubscribe(t *testing.T) {
	bus := observe.New(nil)
	var got recorder
	var unsubscribe func()
	armed := make(chan bool)
	unsubscribe = bus.Subscribe("once", func(e observe.Event) {
		<-armed
		got.see(e)
		unsubscribe() // from within
	})
	bus.Publish(observe.Event{Name: "1"})
	bus.Publish(observe.Event{Name: "2"})
	close(armed)
	closeBus(t, bus) // also waits for who unsubscribed
	unsubscribe()
	if diff := cmp.Diff([]string{"1"}, got.seen()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if bus.Active() {
		t.Error("a closed bus is active")
	}
}

func TestBus_CloseNamesWhoStays(t *testing.T) {
	bus := observe.New(nil)
	entered, release := make(chan bool), make(chan bool)
	bus.Subscribe("stuck", func(observe.Event) { close(entered); <-release })
	bus.Publish(observe.Event{Name: observe.ToolPre})
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := bus.Close(ctx)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "stuck") {
		t.Errorf("Close = %v, want a cancelled context and the name of the subscriber", err)
	}
	close(release)
	closeBus(t, bus)
}

func TestBus_Concurrent(t *testing.T) {
	bus := observe.New(nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				stop := bus.Subscribe("s", func(observe.Event) {})
				bus.Publish(observe.Event{Name: observe.ToolPre})
				stop()
			}
		})
	}
	wg.Wait()
	if bus.Active() {
		t.Error("the bus is active without subscribers")
	}
	closeBus(t, bus)
}

func TestBus_Names(t *testing.T) {
	bus := observe.New(nil)
	bus.Contribute("thrower", func() []string { panic("no") })
	bus.Contribute("b", func() []string { return []string{"b:started", "b:completed", "shared", ""} })
	first := bus.Contribute("a", func() []string { return []string{"a:old"} })
	second := bus.Contribute("a", func() []string { return []string{"a:started", "shared"} })
	first() // was replaced: takes nothing back
	want := []string{"a:started", "b:completed", "b:started", "shared"}
	if diff := cmp.Diff(want, bus.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	second()
	if diff := cmp.Diff([]string{"b:completed", "b:started", "shared"}, bus.Names()); diff != "" {
		t.Errorf("names after removal (-want +got):\n%s", diff)
	}
}

func TestBus_Nil(t *testing.T) {
	var bus *observe.Bus
	bus.Publish(observe.Event{Name: observe.ToolPre})
	bus.Subscribe("s", func(observe.Event) {})()
	bus.Contribute("m", func() []string { return []string{"m:started"} })()
	if bus.Active() || bus.Names() != nil || bus.Close(t.Context()) != nil {
		t.Error("a nil bus does something")
	}
}

func TestBus_PublishWithoutSubscribersAllocatesNothing(t *testing.T) {
	bus := observe.New(nil)
	bus.Subscribe("s", func(observe.Event) {})()
	if n := testing.AllocsPerRun(100, func() {
		bus.Publish(observe.Event{Name: observe.ToolPre, SessionID: "s", CallID: "c", Tool: "read"})
	}); n != 0 {
		t.Errorf("publishing to nobody made %v allocations, want none", n)
	}
	closeBus(t, bus)
}

func BenchmarkPublish(b *testing.B) {
	event := observe.Event{Name: observe.ToolPre, SessionID: "s", CallID: "c", Tool: "read", At: time.Unix(1, 0)}
	b.Run("nobody", func(b *testing.B) {
		bus := observe.New(nil)
		b.ReportAllocs()
		for b.Loop() {
			bus.Publish(event)
		}
	})
	b.Run("one", func(b *testing.B) {
		bus := observe.New(nil)
		bus.Subscribe("s", func(observe.Event) {})
		b.ReportAllocs()
		for b.Loop() {
			bus.Publish(event)
		}
		if err := bus.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
}
