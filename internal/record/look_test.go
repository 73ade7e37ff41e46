package record

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"acp-agent/internal/redact"
)

// What the agent saw when it looked is handed out at the place of the look: after what came before it, and
// what comes after it waits.
func TestLook_HasItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlayer(&Recording{Entries: []Entry{
			{Kind: In, Data: json.RawMessage(`{}`)},
			{Kind: Looked, Name: "cancelled", Key: "s", Data: json.RawMessage(`true`)},
			{Kind: In, Data: json.RawMessage(`{}`)},
			{Kind: Looked, Name: "cancelled", Key: "s", Data: json.RawMessage(`true`)},
		}})
		tape := PlayFrom(p)
		seen := make(chan bool)
		look := func() { seen <- Look(tape, "cancelled", "s", func() bool { return false }) }
		go look()
		synctest.Wait()
		select {
		case <-seen:
			t.Fatal("the look did not wait for the line before it")
		default:
		}
		if first := p.Progress().First; first != 0 {
			t.Fatalf("entry %d comes next, want 0", first)
		}
		p.Finish(0)
		if !<-seen {
			t.Error("the agent sees what is now, not what was recorded")
		}
		if err := p.Await(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		go look() // comes before the line
		synctest.Wait()
		p.Finish(2)
		if !<-seen {
			t.Error("the second look sees what is now")
		}
		for range 2 {
			if Look(tape, "cancelled", "s", func() bool { return false }) {
				t.Error("a look that the recording does not have has a recorded answer")
			}
		}
	})
}

// An answer for which the agent waited while a line came is handed out after that line; one that came at once
// is handed out at once. Both come from a recording that was written.
func TestAwait_HasItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	r, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	recording := RecordTo(r)
	Await(recording, "quick", "", func() string { return "at once" })
	Await(recording, "slow", "", func() string {
		r.Line("in", []byte(`{}`))
		return "later"
	})
	recording.Reach("here", "")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		read, err := Read(strings.NewReader(readFile(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		p := NewPlayer(read)
		tape := PlayFrom(p)
		ask := func(name string) string { return Await(tape, name, "", func() string { return "now" }) }
		if got := ask("quick"); got != "at once" {
			t.Errorf("quick: %q", got)
		}
		got := make(chan string, 1)
		go func() { got <- ask("slow") }()
		synctest.Wait()
		if len(got) > 0 {
			t.Error("the answer came before the line that came before it")
		}
		p.Finish(1)
		if answer := <-got; answer != "later" {
			t.Errorf("slow: %q", answer)
		}
		tape.Reach("here", "")
		if first := p.Progress().First; first != len(read.Entries) {
			t.Errorf("entry %d has not come", first)
		}
	})
}

// A look of one of several is found by its text, from which a key is taken out, whatever the order in which they look; what
// it will see can be read before.
func TestLookBy_FindsItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	r, err := Create(path, Options{Clean: func(text string) string { return strings.ReplaceAll(text, "sesame", redact.Mask) }})
	if err != nil {
		t.Fatal(err)
	}
	for i, who := range []string{"one", "open sesame", "one"} {
		LookBy(RecordTo(r), "cancelled", "s", who, func() int { return i })
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text := readFile(t, path)
	if strings.Contains(text, "one") || strings.Contains(text, "sesame") {
		t.Errorf("the recording has the text:\n%s", text)
	}
	read, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	tape := PlayFrom(NewPlayer(read))
	if list := Seen[int](tape, "cancelled", read.Entries[0].Key); len(list) != 2 || list[1] != 2 {
		t.Errorf("what will be seen is %v", list)
	}
	seen := make(chan int)
	go func() { seen <- LookBy(tape, "cancelled", "s", "open "+redact.Mask, func() int { return -1 }) }()
	for _, want := range []int{0, 2} {
		if want == 2 && <-seen != 1 {
			t.Error("the look of the other one sees something else")
		}
		if got := LookBy(tape, "cancelled", "s", "one", func() int { return -1 }); got != want {
			t.Errorf("the look sees %d, want %d", got, want)
		}
	}
	if list := Seen[int](tape, "cancelled", read.Entries[0].Key); len(list) > 0 {
		t.Errorf("after all looks %v is to come", list)
	}
}

// A request that the recording does not have is not a difference when it is cancelled a moment later.
func TestPlayExchange_Cancelled(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := NewPlayer(&Recording{Entries: []Entry{{Kind: Requested, Of: 1, Name: "model", Data: json.RawMessage(`{}`)}, {Kind: Closed}}})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := PlayFrom(p).PlayExchange(ctx, "model", []byte(`{"messages":["other"]}`))
				done <- err
			}()
			synctest.Wait()
			if cancelled {
				cancel()
			}
			if err := <-done; err == nil {
				t.Error("another request has the recorded answer")
			}
			if d := p.Progress().Difference; (d == nil) != cancelled {
				t.Errorf("cancelled: %v, difference %+v", cancelled, d)
			}
		})
	}
}

// What others emit while a call ends may be recorded behind its end: no one waits for it.
func TestPlay_StepAfterTheEnd(t *testing.T) {
	p := NewPlayer(&Recording{Entries: []Entry{
		{Kind: Called, Of: 1, Name: "expand", Key: digest(nil)},
		{Kind: Step, Of: 1, Data: json.RawMessage(`1`)},
		{Kind: Returned, Of: 1},
		{Kind: Step, Of: 1, Data: json.RawMessage(`2`)},
		{Kind: InEnd},
	}})
	if first := p.Progress().First; first != 1 {
		t.Errorf("entry %d comes next, want 1", first)
	}
	p.Finish(1)
	if first := p.Progress().First; first != 4 {
		t.Errorf("entry %d comes next, want 4", first)
	}
}

// A call whose input holds a key is found by its input without the key, which is all that a replay has.
func TestCall_WithAKey(t *testing.T) {
	var keys redact.Values
	keys.Add(canary)
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	r, err := Create(path, Options{Clean: keys.Text, Begins: keys.Begins})
	if err != nil {
		t.Fatal(err)
	}
	RecordTo(r).Start("expand", "my key is "+canary).Return()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := Read(strings.NewReader(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := PlayFrom(NewPlayer(read)).Play(t.Context(), "expand", "my key is "+redact.Mask); err != nil {
		t.Error(err)
	}
}

// An event that comes before anyone listens is kept until then.
func TestDeliver_WaitsForListener(t *testing.T) {
	p := NewPlayer(&Recording{})
	var heard []string
	p.Deliver(Entry{Kind: Happened, Key: "s", Name: "early", Data: json.RawMessage(`1`)})
	p.Deliver(Entry{Kind: Happened, Key: "other", Name: "elsewhere", Data: json.RawMessage(`1`)})
	PlayFrom(p).OnHappened("s", func(name string, _ []byte) { heard = append(heard, name) })
	p.Deliver(Entry{Kind: Happened, Key: "s", Name: "late", Data: json.RawMessage(`1`)})
	if got := strings.Join(heard, " "); got != "early late" {
		t.Errorf("heard %q", got)
	}
}

// What a killed process did after the end of its recording is not a difference.
func TestPlay_BeyondTheEnd(t *testing.T) {
	for _, test := range []struct {
		name    string
		entries []Entry
		differs bool
	}{
		{"killed", nil, false},
		{"ended", []Entry{{Kind: Closed}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPlayer(&Recording{Entries: test.entries})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := PlayFrom(p).Play(ctx, "edit", "{}")
					done <- err
				}()
				synctest.Wait()
				if !test.differs {
					p.Stop()
				}
				if err := <-done; err == nil {
					t.Error("a call that is not in the recording is played")
				}
				if d := p.Progress().Difference; (d != nil) != test.differs {
					t.Errorf("the difference is %v", d)
				}
				cancel()
			})
		})
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
