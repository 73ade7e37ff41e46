package record

// listen sets the function that gets the events of a session, and calls it with the events that have come already.
func (p *Player) listen(session string, play func(name string, data []byte)) {
	p.mu.Lock()
	p.listeners[session] = play
	early := p.undelivered[session]
	delete(p.undelivered, session)
	p.mu.Unlock()
	for _, e := range early {
		play(e.Name, e.Data)
	}
}

// Deliver passes an event to the function that listens to its session, or keeps it until there is one.
func (p *Player) Deliver(event Entry) {
	p.mu.Lock()
	play := p.listeners[event.Key]
	if play == nil {
		p.undelivered[event.Key] = append(p.undelivered[event.Key], event)
	}
	p.mu.Unlock()
	if play != nil {
		play(event.Name, event.Data)
	}
}
