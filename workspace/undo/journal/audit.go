package journal

import (
	"slices"
	"time"
)

// Operation is what one call changed (R129).
type Operation struct {
	Origin
	// Changes are in the order in which they were made.
	Changes []Change
}

// Change is one line of the audit.
type Change struct {
	Path string
	Kind Kind
	Time time.Time
	// Undo says that the change took back an earlier one, TakenBack that it was
	// itself taken back.
	Undo, TakenBack bool
	// Seen marks what a scan found: who changed it is likely, not proved, and
	// there is no pre-image.
	Seen bool
	// Before and After name the bytes of a file that was and that is; nil is what is
	// no file, or was not read; of what a scan found there is at most After.
	Before, After *Content
}

type note struct {
	Origin
	Change
	seq int
	// undid is whose change was taken back; nil when none was.
	undid *Origin
}

// note adds a line to the audit. The caller holds mu.
func (j *Journal) note(o Origin, c Change) *note {
	j.seq++
	n := &note{Origin: o, Change: c, seq: j.seq}
	j.log = append(j.log, n)
	return n
}

// Note adds changes that cannot be taken back: what a scan found.
func (j *Journal) Note(o Origin, changes ...Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range changes {
		j.note(o, c)
	}
	j.trim()
}

// Mark is a moment in the audit, for Since.
func (j *Journal) Mark() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seq
}

// Since tells which paths were changed by noted operations since a mark.
func (j *Journal) Since(mark int) map[string]bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	paths := map[string]bool{}
	for _, n := range slices.Backward(j.log) {
		if n.seq <= mark {
			break
		}
		paths[n.Path] = true
	}
	return paths
}

// Written returns the last change of each path that the session's own tools made since a
// mark. Changes that a scan found are not among them.
func (j *Journal) Written(mark int) map[string]Change {
	j.mu.Lock()
	defer j.mu.Unlock()
	changes := map[string]Change{}
	for _, n := range slices.Backward(j.log) {
		if n.seq <= mark {
			break
		}
		if _, later := changes[n.Path]; !n.Seen && !later {
			changes[n.Path] = n.Change
		}
	}
	return changes
}

// Modified lists the paths that an operation, or one within it, changed and that were
// not taken back since, sorted. An undo of what belongs to the operation itself leaves
// nothing changed.
func (j *Journal) Modified(operation string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var paths []string
	for _, n := range j.log {
		undone := n.TakenBack || n.undid != nil && j.within(*n.undid, operation)
		if !undone && j.within(n.Origin, operation) {
			paths = append(paths, n.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Changes lists what an operation and those within it changed, in order, what was taken
// back since included.
func (j *Journal) Changes(operation string) []Change {
	return j.changes(func(o Origin) bool { return j.within(o, operation) })
}

// OwnChanges is Changes without the changes of operations within it.
func (j *Journal) OwnChanges(operation string) []Change {
	return j.changes(func(o Origin) bool { return o.Operation == operation })
}

func (j *Journal) changes(counts func(Origin) bool) []Change {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []Change
	for _, n := range j.log {
		if counts(n.Origin) {
			list = append(list, n.Change)
		}
	}
	return list
}

// Operations lists what was changed, by whom and when, in the order in which
// the operations started to change files (R129).
func (j *Journal) Operations() []Operation {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []Operation
	at := map[Origin]int{}
	for _, n := range j.log {
		i, known := at[n.Origin]
		if !known {
			i = len(list)
			at[n.Origin] = i
			list = append(list, Operation{Origin: n.Origin})
		}
		list[i].Changes = append(list[i].Changes, n.Change)
	}
	return list
}
