package store

import (
	"encoding/json"
	"fmt"

	"acp-agent/transcript"
)

// add numbers a line and queues it.
func (r *Recorder) add(l line) {
	r.seq++
	l.seq, l.at = r.seq, r.store.o.Now().UnixMilli()
	before := len(r.file.queue)
	r.file.queue = l.append(r.file.queue)
	if size := len(r.file.queue) - before; size > maxLine { // a reader would skip it
		r.file.queue = r.file.queue[:before]
		r.seq--
		r.refused = fmt.Errorf("a record of %d MiB was not stored; at most %d MiB are", size>>20, maxLine>>20)
	}
}

// addValue queues a line whose data is a value.
func (r *Recorder) addValue(l line, value any, skip func([]string) bool) {
	data, err := encode(value)
	if err != nil {
		r.refused = err
		return
	}
	l.data = cleanJSON(data, r.store.o.Clean, skip)
	r.add(l)
}

// addDirty queues the Info and the memory of the session, if they have changed.
func (r *Recorder) addDirty() {
	if r.dirty.memory {
		r.addValue(line{kind: sessionKind, op: opMemory}, r.memory, nil)
	}
	if r.dirty.info {
		r.info.Updated = r.store.o.Now().UTC()
		r.addValue(line{kind: sessionKind}, r.info, skipInfo)
	}
	r.dirty = dirt{}
}

// addPart queues a part without its subagent, which has lines of its own.
func (r *Recorder) addPart(l line, part transcript.Part) {
	if call, ok := part.(*transcript.ToolPart); ok {
		copied := *call
		copied.Child = nil
		part = &copied
	}
	data, err := transcript.EncodePart(part)
	if err != nil {
		r.refused = err
		return
	}
	l.kind, l.data = partKind, cleanJSON(data, r.store.o.Clean, skipPart)
	r.add(l)
}

// addCallState queues the state of a call.
func (r *Recorder) addCallState(l line, state transcript.State) {
	l.kind, l.op = partKind, opCall
	l.data = json.RawMessage(`"` + string(state) + `"`)
	r.add(l)
}
