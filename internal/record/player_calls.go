package record

import (
	"context"
	"slices"
)

// call returns the number of the next recorded call with a name and an input, whose digest is key. If there is
// none, the replay ends with that difference.
func (p *Player) call(ctx context.Context, name, key, input string) (n int, err error) {
	p.mu.Lock()
	i, ok := p.use(question{Called, name, key})
	first := p.first
	p.mu.Unlock()
	if ok {
		return p.Entries[i].Of, nil
	}
	return 0, p.differUnlessCancelled(ctx, Difference{
		Entry: first, What: "the agent makes a call that is not in the recording: " + name, Got: input,
	})
}

// exchange returns the number of the exchange whose recorded request is equal to a request. If there is none,
// the replay ends with the difference to the next recorded one.
func (p *Player) exchange(ctx context.Context, name string, body []byte) (n int, err error) {
	body = p.asRecorded(body)
	got := fingerprint(body)
	entry, equal := p.useRequest(name, digest(got))
	switch {
	case equal:
		return p.Entries[entry].Of, nil
	case entry < 0:
		return 0, p.differUnlessCancelled(ctx, Difference{
			Entry: p.Progress().First, What: "the agent sends a model request that is not in the recording", Path: name,
		})
	}
	d := Difference{Entry: entry, What: "a request to the model differs"}
	d.Path, d.Want, d.Got = compareFingerprints(p.Entries[entry].Data, got, body)
	return 0, p.differUnlessCancelled(ctx, d)
}

// useRequest marks the first request as done that has a name and a digest and is not done. If there is none,
// it returns the next request with that name; -1 when there is none either.
func (p *Player) useRequest(name, key string) (entry int, equal bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := -1
	for i, e := range p.Entries {
		if e.Kind != Requested || p.done[i] || e.Name != name {
			continue
		}
		if e.Key == key {
			p.done[i] = true
			p.advance()
			return i, true
		}
		if next < 0 {
			next = i
		}
	}
	return next, false
}

// next waits for the place of the next entry of an exchange or call, and marks it as done; ok is false when
// ctx or the replay ends before.
func (p *Player) next(ctx context.Context, n int) (e Entry, ok bool) {
	i := p.nextOf(n)
	if i == len(p.Entries) { // the recording ends within the exchange or call
		_ = p.awaitOver(ctx)
		return e, false
	}
	if p.Await(ctx, i) != nil {
		return e, false
	}
	p.Finish(i)
	return p.Entries[i], true
}

// nextOf returns the next entry of an exchange or call that is not done; len(p.Entries) when there is none.
func (p *Player) nextOf(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Of == n && (e.Kind == Called || e.Kind == Requested) })
	for i++; i < len(p.Entries) && (p.Entries[i].Of != n || p.done[i]); i++ {
	}
	return i
}

// skipRest marks the rest of an exchange as done.
func (p *Player) skipRest(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, e := range p.Entries {
		if e.Of == n {
			p.done[i] = true
		}
	}
	p.advance()
}
