package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Records keeps values by keys beyond the end of the process. Put takes the place of the value
// before; what cannot be stored is its own to report.
type Records interface {
	Put(key string, value any) error
}

// The keys. Numbers of spans count from 0 in the order of the messages; a span that takes the
// place of an undone one has its number.
const (
	lineKey   = "undo"           // lineForm
	spanKey   = "undo.span.%d"   // spanForm
	groupKey  = "undo.%s.%d"     // groupForm, by message and number
	undoneKey = "undo.undone.%d" // groupForm of an Undone
)

// lineForm says how far the record goes.
type lineForm struct {
	First  int `json:"first"`
	Spans  int `json:"spans"`
	Undone int `json:"undone"`
}

type spanForm struct {
	ID string `json:"id"`
}

// inlineChanges is how many changes stand in the record itself; more are a content of their own.
const inlineChanges = 50

// groupForm is a Group, or In the content that holds it.
type groupForm struct {
	*Group
	Spans int    `json:"spans,omitempty"`
	In    string `json:"in,omitempty"`
}

// put stores a value. What cannot be stored is told by the store, and the session goes on.
func (t *Timeline) put(key string, value any) {
	if t.o.Records != nil {
		_ = t.o.Records.Put(key, value)
	}
}

func (t *Timeline) recordLine() {
	t.put(lineKey, lineForm{First: t.first, Spans: len(t.spans), Undone: len(t.undone)})
}

// recordSpan records the newest span.
func (t *Timeline) recordSpan() {
	t.put(fmt.Sprintf(spanKey, t.first+len(t.spans)-1), spanForm{t.spans[len(t.spans)-1].ID})
	t.recordLine()
}

func (t *Timeline) recordGroup(s *Span, g Group) {
	t.put(fmt.Sprintf(groupKey, s.ID, s.groups-1), t.form(g, 0))
}

func (t *Timeline) recordUndone() {
	if n := len(t.undone); n > 0 {
		u := t.undone[n-1]
		t.put(fmt.Sprintf(undoneKey, n-1), t.form(Group{Changes: u.Changes, Kept: u.Kept}, u.Spans))
	}
	t.recordLine()
}

// form is a group as it is stored.
func (t *Timeline) form(g Group, spans int) groupForm {
	if t.o.Records == nil || len(g.Changes) <= inlineChanges {
		return groupForm{Group: &g, Spans: spans}
	}
	data, err := json.Marshal(g)
	if err == nil {
		var name string
		if name, err = t.o.Contents.Put(bytes.NewReader(data)); err == nil {
			return groupForm{In: name, Spans: spans}
		}
	}
	return groupForm{Group: &g, Spans: spans}
}

// IsRecord reports whether a key is one of those of a timeline.
func IsRecord(key string) bool { return key == lineKey || strings.HasPrefix(key, lineKey+".") }

// ForFork is a record as a session has it that is forked from this one: id gives the new id of a
// message, "" where the fork does not have it. Without ok the fork does not have the record: a
// fork includes neither what was undone nor the messages that it belongs to.
func ForFork(key string, data []byte, id func(old string) string) (forked string, value []byte, ok bool) {
	rest := strings.TrimPrefix(key, lineKey+".")
	dot := strings.LastIndexByte(rest, '.')
	switch {
	case key == lineKey:
		var line lineForm
		ok = json.Unmarshal(data, &line) == nil
		line.Undone = 0
		value, _ = json.Marshal(line) // numbers
		return key, value, ok
	case dot < 0 || strings.HasPrefix(rest, "undone."):
		return "", nil, false
	case strings.HasPrefix(rest, "span."):
		var form spanForm
		ok = json.Unmarshal(data, &form) == nil
		form.ID = id(form.ID)
		value, _ = json.Marshal(form) // a text
		return key, value, ok
	default:
		message := id(rest[:dot])
		return lineKey + "." + message + rest[dot:], data, message != ""
	}
}

// Load restores what was recorded. read reads a value, as [store.Stored] State does. known reports
// whether a message is one of the session. The newest spans are left out when their messages are not,
// as in a fork that ends before them; what they changed is then the doing of someone else. Any other
// span that cannot be read, or whose message is gone, ends the timeline there: what lies before it
// cannot be taken back.
func (t *Timeline) Load(read func(key string, into any) (bool, error), known func(id string) bool) {
	var line lineForm
	if ok, err := read(lineKey, &line); !ok || err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first = line.First
	line.Spans = cutUnknown(line, read, known)
	for i := line.First; i < line.First+line.Spans; i++ {
		var form spanForm
		if ok, err := read(fmt.Sprintf(spanKey, i), &form); !ok || err != nil || !known(form.ID) {
			t.forget(i + 1)
			continue
		}
		if s := t.loadSpan(form.ID, read); s != nil {
			t.spans = append(t.spans, s)
		} else {
			t.forget(i + 1)
		}
	}
	for i := range line.Undone {
		g, spans, ok := t.loadGroup(fmt.Sprintf(undoneKey, i), read)
		if !ok || g == nil {
			t.undone = nil
			t.forget(line.First + line.Spans)
			return
		}
		t.keep(g.Kept)
		t.undone = append(t.undone, Undone{Spans: spans, Changes: g.Changes, Kept: g.Kept})
	}
}

// cutUnknown counts the spans without the newest ones whose messages are not known. Where something
// is undone all count, for the undone spans are the newest.
func cutUnknown(line lineForm, read func(key string, into any) (bool, error), known func(id string) bool) int {
	n := line.Spans
	for ; n > 0 && line.Undone == 0; n-- {
		var form spanForm
		if ok, err := read(fmt.Sprintf(spanKey, line.First+n-1), &form); !ok || err != nil || known(form.ID) {
			break
		}
	}
	return n
}

// forget drops all spans before number first. The caller holds mu.
func (t *Timeline) forget(first int) { t.spans, t.first, t.count = nil, first, 0 }

func (t *Timeline) loadSpan(id string, read func(key string, into any) (bool, error)) *Span {
	s := &Span{ID: id}
	for {
		g, _, ok := t.loadGroup(fmt.Sprintf(groupKey, id, s.groups), read)
		if !ok {
			return nil
		}
		if g == nil {
			return s
		}
		t.keep(g.Kept)
		t.count += len(g.Changes)
		s.add(*g)
	}
}

// loadGroup returns nil when there is none. ok is false when it cannot be read.
func (t *Timeline) loadGroup(key string, read func(key string, into any) (bool, error)) (g *Group, spans int, ok bool) {
	var form groupForm
	form.Group = &Group{}
	switch found, err := read(key, &form); {
	case err != nil:
		return nil, 0, false
	case !found:
		return nil, 0, true
	case form.In == "":
		return form.Group, form.Spans, true
	}
	r, err := t.o.Contents.Open(form.In)
	if err != nil {
		return nil, 0, false
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	g = &Group{}
	if err != nil || json.Unmarshal(data, g) != nil {
		return nil, 0, false
	}
	g.Changes = slices.Clip(g.Changes)
	return g, form.Spans, true
}
