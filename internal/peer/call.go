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
	if err := p.send(ctx, body); err != nil {
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

// Notify sends a notification.
func (p *Peer) Notify(ctx context.Context, method string, params any) error {
	body, err := outgoing(nil, method, params)
	if err != nil {
		return err
	}
	return p.send(ctx, body)
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
// read it by then, within a grace, is ended.
func (p *Peer) send(ctx context.Context, body []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := written{p.o.Framing.wrap(body), make(chan struct{})}
	select {
	case p.out <- m:
	case <-p.done:
		return p.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-m.done:
		return nil
	case <-p.done:
		return p.Err()
	case <-ctx.Done():
		p.spawn(func() { p.awaitWritten(m) })
		return context.Cause(ctx)
	}
}

func (p *Peer) awaitWritten(m written) {
	grace := time.NewTimer(writeGrace)
	defer grace.Stop()
	select {
	case <-m.done:
	case <-p.done:
	case <-grace.C:
		p.Shut()
	}
}
