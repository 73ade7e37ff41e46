package journal

// Nest notes that a call which delegates is itself a call of an agent that was delegated
// to, by the call parent. A call of the main agent has none, and needs no note.
func (j *Journal) Nest(operation, parent string) {
	if parent == "" || operation == parent {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.parents[operation]; !known {
		j.parents[operation] = parent
	}
}

// Within reports whether what an origin did belongs to an operation: it is its own, or
// the operation delegated to the agent that did it, at any depth (R128).
func (j *Journal) Within(o Origin, operation string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.within(o, operation)
}

// within is Within. The caller holds mu.
func (j *Journal) within(o Origin, operation string) bool {
	if o.Operation == operation {
		return true
	}
	above := o.Parent
	for range len(j.parents) { // no longer, should the notes lead round in a circle
		if above == "" || above == operation {
			break
		}
		above = j.parents[above]
	}
	return above != "" && above == operation
}
