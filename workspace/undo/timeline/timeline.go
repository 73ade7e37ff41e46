package timeline

import (
	"slices"
	"sync"
)

// Options are what a Timeline is made of.
type Options struct {
	// Contents keeps bytes.
	Contents Contents
	// Records keeps what must survive a restart; nil keeps nothing.
	Records Records
	// MaxChanges bounds the changes that are remembered; 0 means 200,000. Beyond it the oldest
	// spans can no longer be taken back.
	MaxChanges int
}

const defaultMaxChanges = 200_000

// Span is what happened after one message of the user, until the next.
type Span struct {
	// ID is the message's.
	ID string
	// Missed are lines that say what was not looked at when commands ran.
	Missed []string

	changes []Change
	groups  int // that were recorded
}

// Group is changes that became known together.
type Group struct {
	Changes []Change `json:"changes,omitempty"`
	// Kept says where bytes of former states are.
	Kept []Kept `json:"kept,omitempty"`
	// Missed says what was not looked at; "" when all was.
	Missed string `json:"missed,omitempty"`
}

// Undone is what an undo did to files. A redo does the reverse.
type Undone struct {
	// Spans counts the spans that were undone, the newest ones that were not before.
	Spans int `json:"spans"`
	// Changes are what was done, in the direction in which it was done.
	Changes []Change `json:"changes,omitempty"`
	Kept    []Kept   `json:"kept,omitempty"`
}

// Timeline is the spans of one session. It is safe for concurrent use.
type Timeline struct {
	o Options

	mu     sync.Mutex
	spans  []*Span  // oldest first, the undone ones last
	undone []Undone // the newest last
	count  int      // of changes
	first  int      // number of the first span, as recorded
	kept   map[Sum]Kept
}

// New makes an empty timeline. It touches no disk.
func New(o Options) *Timeline {
	if o.MaxChanges <= 0 {
		o.MaxChanges = defaultMaxChanges
	}
	return &Timeline{o: o, kept: map[Sum]Kept{}}
}

// Begin starts the span of a message. What was undone before it cannot be redone any more.
func (t *Timeline) Begin(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.spans[t.live():] {
		t.count -= len(s.changes)
	}
	t.spans = append(t.spans[:t.live():t.live()], &Span{ID: id})
	t.undone = nil
	t.recordSpan()
}

// live counts the spans that are not undone. The caller holds mu.
func (t *Timeline) live() int {
	n := len(t.spans)
	for _, u := range t.undone {
		n -= u.Spans
	}
	return max(n, 0)
}

// Started reports whether there is a span to add to.
func (t *Timeline) Started() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live() > 0
}

// Add notes what happened since the last message. Before the first message it is forgotten.
func (t *Timeline) Add(g Group) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(g.Kept)
	n := t.live()
	if n == 0 || len(g.Changes) == 0 && g.Missed == "" {
		return
	}
	span := t.spans[n-1]
	if g.Missed != "" && slices.Contains(span.Missed, g.Missed) {
		if g.Missed = ""; len(g.Changes) == 0 {
			return
		}
	}
	span.add(g)
	t.recordGroup(span, g)
	t.count += len(g.Changes)
	for t.count > t.o.MaxChanges && n > 1 {
		t.count -= len(t.spans[0].changes)
		t.spans = t.spans[1:]
		t.first++
		n--
	}
}

func (s *Span) add(g Group) {
	s.changes = append(s.changes, g.Changes...)
	s.groups++
	if g.Missed != "" {
		s.Missed = append(s.Missed, g.Missed)
	}
}

// keep notes where bytes are. The caller holds mu.
func (t *Timeline) keep(list []Kept) {
	for _, k := range list {
		t.kept[k.Sum] = k
	}
}

// Summary is a span as a list shows it.
type Summary struct {
	ID string
	// Files counts the paths that it changed.
	Files int
	// Undone says that it is undone.
	Undone bool
}

// Spans lists the spans, oldest first.
func (t *Timeline) Spans() []Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Summary, len(t.spans))
	live := t.live()
	for i, s := range t.spans {
		nets := map[string]*Net{}
		list[i] = Summary{ID: s.ID, Files: len(merge(nets, nil, s.changes)), Undone: i >= live}
	}
	return list
}

// Net is what the spans from number i on come to, for each path, in the order in which the paths
// were first changed, and what was not looked at meanwhile. Undone spans do not count.
func (t *Timeline) Net(i int) (list []Net, missed []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	nets := map[string]*Net{}
	var order []string
	for _, s := range t.spans[min(i, t.live()):t.live()] {
		order = merge(nets, order, s.changes)
		for _, line := range s.Missed {
			if !slices.Contains(missed, line) {
				missed = append(missed, line)
			}
		}
	}
	for _, path := range order {
		n := nets[path]
		if n.Broken || !n.Before.Is(n.After) || !n.Before.hasMode(n.After) {
			list = append(list, *n)
		}
	}
	return list, missed
}

// Undo notes that the newest spans are undone.
func (t *Timeline) Undo(u Undone) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(u.Kept)
	t.undone = append(t.undone, u)
	t.recordUndone()
}

// LastUndone is what a redo takes back, and the number of its first span.
func (t *Timeline) LastUndone() (u Undone, first int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.undone) == 0 {
		return Undone{}, 0, false
	}
	return t.undone[len(t.undone)-1], t.live(), true
}

// Redo notes that the last undo was taken back. What could not be put back as it was is noted as
// a change since.
func (t *Timeline) Redo(kept []Kept) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(kept)
	if n := len(t.undone); n > 0 {
		t.undone = t.undone[:n-1]
		t.recordUndone()
	}
}
