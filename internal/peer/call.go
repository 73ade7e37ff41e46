package peer

import (
	"context"
	"encoding/json"
	"time"
)

// Call sends a request and waits for its result. An *Error is the process's answer; after any
// other error but ctx's cause, the peer is of no use.
func (p *Peer) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answer := make(chan *Message, 1)
	p.mu.Lock()
	p.last++
	id := p.last
	p.waiting[id] = answer
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, id)
	}()
	body, err := Request(id, method, params)
	if err != nil {
		return nil, err
	}
	if err := p.send(ctx, body, p.leaveUnwritten); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return m.Outcome()
	case <-p.done:
		select { // it may have answered and ended
		case m := <-answer:
			return m.Outcome()
		default:
			return nil, p.Err()
		}
	case <-ctx.Done():
		p.cancel(id)
		return nil, context.Cause(ctx)
	}
}

// Notify sends a notification. After an error, the process has not got it and never will, so
// that what its caller assumes of the process stays true; for that it may return writeGrace
// after the end of ctx.
func (p *Peer) Notify(ctx context.Context, method string, params any) error {
	body, err := outgoing(nil, method, params)
	if err != nil {
		return err
	}
	return p.send(ctx, body, p.awaitWritten)
}

// cancel tells the process, after its caller has returned, that a request is void.
func (p *Peer) cancel(id int64) {
	if p.o.Cancel == "" {
		return
	}
	p.spawn(func() {
		ctx, stop := context.WithTimeout(context.Background(), writeGrace)
		defer stop()
		_ = p.Notify(ctx, p.o.Cancel, map[string]any{"id": id}) // a process that is gone needs no cancellation
	})
}

// send hands a message to the goroutine that writes, and waits until it is written. Half of a
// message would spoil the next, so the end of ctx does not cut it off: a process that does not
// read it by then, within a grace, is ended. unwritten decides whether the caller waits for
// that. A message that was not handed over when ctx ended is not sent at all.
func (p *Peer) send(ctx context.Context, body []byte, unwritten func(context.Context, written) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := written{p.o.Framing.wrap(body), make(chan struct{})}
	select {
	case p.out <- m:
	case <-p.done:
		return p.Err()
	case <-ctx.Done():
		p.spawn(p.endUnlessReading)
		return context.Cause(ctx)
	}
	select {
	case <-m.done:
		return nil
	case <-p.done:
		return p.Err()
	case <-ctx.Done():
		return unwritten(ctx, m)
	}
}

// leaveUnwritten returns at once, and ends the process if it does not read the message.
func (p *Peer) leaveUnwritten(ctx context.Context, m written) error {
	p.spawn(func() { _ = p.awaitWritten(ctx, m) }) // its caller has returned
	return context.Cause(ctx)
}

// awaitWritten waits, after the end of ctx, until a message is written.
func (p *Peer) awaitWritten(ctx context.Context, m written) error {
	grace := time.NewTimer(writeGrace)
	defer grace.Stop()
	select {
	case <-m.done:
		return nil
	case <-p.done:
		return p.Err()
	case <-grace.C:
		p.spawn(p.Shut) // it waits for the process
		return context.Cause(ctx)
	}
}

// endUnlessReading ends a process that does not read, within a grace, the message that is
// being written, no matter what sent it: an empty message is handed over after that one.
func (p *Peer) endUnlessReading() {
	grace := time.NewTimer(writeGrace)
	defer grace.Stop()
	select {
	case p.out <- written{done: make(chan struct{})}:
	case <-p.done:
	case <-grace.C:
		p.Shut()
	}
}
