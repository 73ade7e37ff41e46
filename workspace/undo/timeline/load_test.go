package timeline_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/workspace/undo/timeline"
)

// recorded is a timeline of four messages, the last of which is undone, as it is on the disk.
func recorded(t *testing.T) (*shelf, *timeline.Timeline) {
	t.Helper()
	s := newShelf()
	line := s.line()
	for i := range 4 {
		line.Begin(fmt.Sprintf("m%d", i))
		var many []timeline.Change
		for n := range 60 { // more than stand in the record itself
			many = append(many, change(fmt.Sprintf("%d/%d", i, n), "", "x"))
		}
		line.Add(timeline.Group{Changes: many})
		line.Add(timeline.Group{Changes: []timeline.Change{change("a", fmt.Sprint(i), fmt.Sprint(i+1))}, Missed: "x/"})
	}
	line.Undo(timeline.Undone{Spans: 1, Changes: []timeline.Change{change("a", "4", "3")}})
	return s, line
}

func ids(line *timeline.Timeline) (list []string) {
	for _, s := range line.Spans() {
		list = append(list, fmt.Sprintf("%s %d %v", s.ID, s.Files, s.Undone))
	}
	return list
}

// R142: a timeline survives a restart, and what of it cannot be read ends it there.
func TestTimeline_Load(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		damage func(s *shelf)
		known  func(id string) bool
		want   []string
	}{
		{"whole", func(*shelf) {}, known, []string{"m0 61 false", "m1 61 false", "m2 61 false", "m3 61 true"}},
		{"no record", func(s *shelf) { clear(s.records) }, known, nil},
		{"a content is gone", func(s *shelf) { delete(s.contents, "content-1") }, known, []string{"m2 61 false", "m3 61 true"}},
		{"a group is damaged", func(s *shelf) { s.records["undo.m0.1"] = json.RawMessage(`[]`) }, known, []string{"m1 61 false", "m2 61 false", "m3 61 true"}},
		{"a span is damaged", func(s *shelf) { s.records["undo.span.2"] = json.RawMessage(`1`) }, known, []string{"m3 61 true"}},
		{"the undo is lost", func(s *shelf) { delete(s.records, "undo.undone.0") }, known, nil},
		{"a message is gone", func(*shelf) {}, func(id string) bool { return id != "m1" }, []string{"m2 61 false", "m3 61 true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, live := recorded(t)
			tt.damage(s)
			loaded := s.line()
			loaded.Load(s.read, tt.known)
			if diff := cmp.Diff(tt.want, ids(loaded)); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
			if tt.name == "whole" {
				want, _ := live.Net(0)
				got, missed := loaded.Net(0)
				if diff := cmp.Diff(want, got); diff != "" || !cmp.Equal(missed, []string{"x/"}) {
					t.Errorf("missed %q, net (-live +loaded):\n%s", missed, diff)
				}
			}
			loaded.Begin("m9") // whatever was lost, it goes on
			if list := ids(loaded); list[len(list)-1] != "m9 0 false" {
				t.Errorf("after the next message: %q", list)
			}
		})
	}
}

// R142: a fork has the spans of the messages that it has, under their new names, and nothing that
// was undone; what came after it is someone else's doing there.
func TestTimeline_Fork(t *testing.T) {
	t.Parallel()
	s, _ := recorded(t)
	forked := newShelf()
	maps.Copy(forked.contents, s.contents)
	newID := func(old string) string {
		if old > "m1" {
			return ""
		}
		return "m-new-" + old
	}
	for key, data := range s.records {
		if !timeline.IsRecord(key) {
			t.Errorf("%s is not one of its records", key)
		}
		if key, value, ok := timeline.ForFork(key, data, newID); ok {
			forked.records[key] = value
		}
	}
	line := forked.line()
	line.Load(forked.read, known)
	if diff := cmp.Diff([]string{"m-new-m0 61 false", "m-new-m1 61 false"}, ids(line)); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	line.Begin("m-next")
	again := forked.line()
	again.Load(forked.read, known)
	if diff := cmp.Diff(ids(line), ids(again)); diff != "" {
		t.Errorf("after a restart of the fork (-live +loaded):\n%s", diff)
	}
	if timeline.IsRecord("choices") || timeline.IsRecord("undone") {
		t.Error("a record of another is taken for its own")
	}
}

// FuzzForFork holds that no record breaks a fork, nor the timeline that is loaded from it.
func FuzzForFork(f *testing.F) {
	for _, seed := range [][2]string{{"undo", `{"first":0,"spans":2}`}, {"undo.span.0", `{"id":"m"}`}, {"undo.m.0", `{"changes":[{}]}`}, {"undo.", `null`}, {"undo.m.0", `{"in":"x"}`}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, key, data string) {
		s := newShelf()
		s.records["undo"], s.records["undo.span.0"] = json.RawMessage(`{"spans":1}`), json.RawMessage(`{"id":"m"}`)
		if key, value, ok := timeline.ForFork(key, []byte(data), strings.ToLower); ok {
			s.records[key] = value
		}
		if n := s.records["undo"]; len(n) > 60 {
			return // as many spans as that takes as long
		}
		var line struct{ First, Spans int }
		if json.Unmarshal(s.records["undo"], &line) == nil && line.Spans < 100 {
			s.line().Load(s.read, known)
		}
	})
}
