package record

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"sync"
)

// question is what the entries that answer one question have in common. Key is empty for an id, whose entry has
// the id there.
type question struct {
	kind      Kind
	name, key string
}

// answeredBy reports whether an entry answers the question.
func (q question) answeredBy(e *Entry) bool {
	return e.Kind == q.kind && e.Name == q.name && (q.kind == ID || e.Key == q.key)
}

// use returns the next entry that answers a question, and notes that it has been used; ok is false when there is
// none. The caller holds mu.
func (p *Player) use(q question) (entry int, ok bool) {
	from := 0
	if last, used := p.lastUsed[q]; used {
		from = last + 1
	}
	for i := from; i < len(p.Entries); i++ {
		e := &p.Entries[i]
		if q.answeredBy(e) && (q.kind != ID || !p.skippedIDs[e.Key]) {
			p.lastUsed[q] = i
			return i, true
		}
	}
	return 0, false
}

// answer returns the next answer to a question; when there is none, the last one again. If other entries came
// while the agent waited for it, it is handed out at its place in the recording.
func (p *Player) answer(name, key string) (e Entry, ok bool) {
	q := question{Answered, name, key}
	p.mu.Lock()
	i, ok := p.use(q)
	if !ok {
		i, ok = p.lastUsed[q]
	}
	p.mu.Unlock()
	if !ok {
		return Entry{}, false
	}
	if p.Entries[i].Waited {
		_ = p.Await(context.Background(), i) // else the replay is over
	}
	return p.Entries[i], true
}

// id returns the next recorded id with a prefix.
func (p *Player) id(prefix string) (id string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.use(question{kind: ID, name: prefix})
	if !ok {
		return "", false
	}
	return p.Entries[i].Key, true
}

// look waits for the place at which the agent looked at something the next time, and returns what it saw.
// ok is false when the recording does not have one.
func (p *Player) look(name, key string) (e Entry, ok bool) {
	p.mu.Lock()
	i, ok := p.use(question{Looked, name, key})
	p.mu.Unlock()
	if !ok {
		return Entry{}, false
	}
	_ = p.Await(context.Background(), i) // else the replay is over
	p.Finish(i)
	return p.Entries[i], true
}

// unseen returns the data of the looks under a name and key that were not used yet.
func (p *Player) unseen(name, key string) (list []json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := question{Looked, name, key}
	from := 0
	if last, used := p.lastUsed[q]; used {
		from = last + 1
	}
	for i := range p.Entries[from:] {
		if e := &p.Entries[from+i]; q.answeredBy(e) {
			list = append(list, e.Data)
		}
	}
	return list
}

// skipAnswers skips the answers to the questions under some keys that came during a call.
func (p *Player) skipAnswers(call int, keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	begin, end := p.span(call)
	for i, e := range p.Entries[begin:end] {
		if e.Kind == Answered && slices.Contains(keys, e.Key) {
			p.lastUsed[question{Answered, e.Name, e.Key}] = begin + i
		}
	}
}

// skipIDs skips the ids that were made during a call, unless the client sent something during it: then the
// ids may be of that.
func (p *Player) skipIDs(call int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	begin, end := p.span(call)
	during := p.Entries[begin:end]
	if slices.ContainsFunc(during, func(e Entry) bool { return e.Kind == In }) {
		return
	}
	for _, e := range during {
		if e.Kind == ID {
			p.skippedIDs[e.Key] = true
		}
	}
}

// span returns where a call begins and ends; the caller holds mu.
func (p *Player) span(call int) (begin, end int) {
	begin = slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Kind == Called && e.Of == call })
	end = slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Kind == Returned && e.Of == call })
	if end < 0 {
		end = len(p.Entries)
	}
	return begin, end
}

// agentID matches the ids of messages, parts and turns, and of calls.
var agentID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:msg|prt|trn|call)_[0-9a-f]{12}[0-9a-z]{14}`)
})

// skipIDsIn skips the ids in recorded data that the agent uses again.
func (p *Player) skipIDsIn(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range agentID().FindAll(data, -1) {
		p.skippedIDs[string(id)] = true
	}
}
