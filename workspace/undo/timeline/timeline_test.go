package timeline_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/workspace/undo/timeline"
)

// shelf keeps contents and records in memory. fault makes it fail.
type shelf struct {
	contents map[string][]byte
	records  map[string]json.RawMessage
	fault    error
}

func newShelf() *shelf {
	return &shelf{contents: map[string][]byte{}, records: map[string]json.RawMessage{}}
}

func (s *shelf) put(content io.Reader) (string, error) {
	data, err := io.ReadAll(content)
	if err = errors.Join(err, s.fault); err != nil {
		return "", err
	}
	name := fmt.Sprintf("content-%d", len(s.contents))
	s.contents[name] = data
	return name, nil
}

type contents struct{ *shelf }

func (c contents) Put(content io.Reader) (string, error) { return c.put(content) }

func (c contents) Open(name string) (io.ReadCloser, error) {
	data, ok := c.contents[name]
	if !ok {
		return nil, errors.New("gone")
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

type records struct{ *shelf }

func (r records) Put(key string, value any) error {
	if r.fault != nil {
		return r.fault
	}
	data, err := json.Marshal(value)
	r.records[key] = data
	return err
}

func (s *shelf) read(key string, into any) (bool, error) {
	data, ok := s.records[key]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(data, into)
}

func (s *shelf) line() *timeline.Timeline {
	return timeline.New(timeline.Options{Contents: contents{s}, Records: records{s}})
}

func sumOf(text string) timeline.Sum {
	sum := sha256.Sum256([]byte(text))
	return timeline.Sum(hex.EncodeToString(sum[:]))
}

// file is a file with a text; "" is none.
func file(text string) timeline.State {
	if text == "" {
		return timeline.State{}
	}
	return timeline.State{Form: timeline.File, Sum: sumOf(text), Size: int64(len(text)), Mode: 0o644}
}

func change(path, before, after string) timeline.Change {
	return timeline.Change{Path: path, Before: file(before), After: file(after)}
}

func source(text, really string) timeline.Source {
	return timeline.Source{Sum: sumOf(text), Size: int64(len(text)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(really)), nil
	}}
}

// known knows the messages that begin with m.
func known(id string) bool { return strings.HasPrefix(id, "m") }

func netPaths(t *timeline.Timeline, from int) (list []string) {
	nets, _ := t.Net(from)
	for _, n := range nets {
		list = append(list, fmt.Sprintf("%s %v", n.Path, n.Broken))
	}
	return list
}

// R127: what several spans come to, with what was changed in between and what came back by itself.
func TestTimeline_Net(t *testing.T) {
	t.Parallel()
	line := newShelf().line()
	line.Add(timeline.Group{Changes: []timeline.Change{change("early", "", "x")}}) // before the first message
	line.Begin("m1")
	line.Add(timeline.Group{Changes: []timeline.Change{change("a", "one", "two"), change("b", "", "new")}, Missed: "x/"})
	line.Begin("m2")
	line.Add(timeline.Group{Changes: []timeline.Change{change("b", "new", ""), change("a", "someone's", "three")}, Missed: "x/"})
	line.Add(timeline.Group{Missed: "x/"})
	if diff := cmp.Diff([]string{"a true"}, netPaths(line, 0)); diff != "" {
		t.Errorf("all spans (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b false", "a false"}, netPaths(line, 1)); diff != "" {
		t.Errorf("the second span (-want +got):\n%s", diff)
	}
	if _, missed := line.Net(0); !cmp.Equal(missed, []string{"x/"}) {
		t.Errorf("missed %q", missed)
	}
	line.Undo(timeline.Undone{Spans: 1})
	if diff := cmp.Diff([]string{"a false", "b false"}, netPaths(line, 0)); diff != "" {
		t.Errorf("without what is undone (-want +got):\n%s", diff)
	}
	if _, first, ok := line.LastUndone(); !ok || first != 1 {
		t.Errorf("undone from %d, %v", first, ok)
	}
	line.Redo(nil)
	if _, _, ok := line.LastUndone(); ok || len(netPaths(line, 1)) != 2 {
		t.Errorf("after the redo: %v, %v", ok, netPaths(line, 1))
	}
	line.Undo(timeline.Undone{Spans: 1})
	line.Begin("m3") // takes the place of what is undone
	if _, _, ok := line.LastUndone(); ok {
		t.Error("an undo before the last message can be redone")
	}
	want := []timeline.Summary{{ID: "m1", Files: 2}, {ID: "m3"}}
	if diff := cmp.Diff(want, line.Spans()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

// R127: bytes are kept once, in one content for several files, and others are noticed.
func TestTimeline_Contents(t *testing.T) {
	t.Parallel()
	s := newShelf()
	line := s.line()
	kept, err := line.Keep([]timeline.Source{source("one", "one"), source("", ""), source("two", "two"), source("one", "one")})
	if err != nil || len(s.contents) != 1 {
		t.Fatalf("%d contents, error %v", len(s.contents), err)
	}
	line.Note(kept)
	if again, err := line.Keep([]timeline.Source{source("two", "never read")}); err != nil || len(again) != 1 || len(s.contents) != 1 {
		t.Errorf("kept twice: %v, %v", again, err)
	}
	reader := line.Reader()
	defer reader.Close()
	for _, text := range []string{"two", "", "one"} { // against the order, too
		var got strings.Builder
		if err := reader.CopyTo(&got, sumOf(text)); err != nil || got.String() != text {
			t.Errorf("%q: %q, error %v", text, got.String(), err)
		}
	}
	if err := reader.CopyTo(io.Discard, sumOf("never")); err == nil {
		t.Error("bytes that are not kept were read")
	}
	for name := range s.contents {
		s.contents[name] = []byte("twoone")
	}
	for _, damage := range []string{"other bytes", "fewer bytes", "nothing"} {
		for name := range s.contents {
			switch damage {
			case "fewer bytes":
				s.contents[name] = s.contents[name][:1]
			case "nothing":
				delete(s.contents, name)
			}
		}
		fresh := line.Reader()
		if err := fresh.CopyTo(io.Discard, sumOf("one")); err == nil {
			t.Errorf("%s: no error", damage)
		}
		fresh.Close()
	}
}

func TestTimeline_KeepFails(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]timeline.Source{
		"changed meanwhile": {source("one", "two")},
		"cut meanwhile":     {source("one", "on")},
		"gone meanwhile":    {{Sum: sumOf("x"), Size: 1, Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }}},
	} {
		s := newShelf()
		line := s.line()
		if _, err := line.Keep(list); err == nil || len(s.contents) != 0 || line.Has(list[0].Sum) {
			t.Errorf("%s: error %v, %d contents", name, err, len(s.contents))
		}
	}
	s := newShelf()
	s.fault = errors.New("the disk is full")
	line := s.line()
	if _, err := line.Keep([]timeline.Source{source("one", "one")}); !errors.Is(err, s.fault) {
		t.Errorf("error %v", err)
	}
	line.Begin("m1") // what cannot be recorded is no reason to stop
	line.Add(timeline.Group{Changes: []timeline.Change{change("a", "", "x")}})
	if len(netPaths(line, 0)) != 1 {
		t.Error("the change is lost")
	}
}

// The oldest spans go when there are too many changes, and stay gone after a restart.
func TestTimeline_Bounded(t *testing.T) {
	t.Parallel()
	s := newShelf()
	line := timeline.New(timeline.Options{Contents: contents{s}, Records: records{s}, MaxChanges: 3})
	for i := range 4 {
		line.Begin(fmt.Sprintf("m%d", i))
		line.Add(timeline.Group{Changes: []timeline.Change{change("a", "", "x"), change(fmt.Sprint(i), "", "x")}})
	}
	want := []timeline.Summary{{ID: "m3", Files: 2}}
	if diff := cmp.Diff(want, line.Spans()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	line.Begin("m4")
	loaded := s.line()
	loaded.Load(s.read, known)
	if diff := cmp.Diff(line.Spans(), loaded.Spans()); diff != "" {
		t.Errorf("loaded (-live +loaded):\n%s", diff)
	}
}
