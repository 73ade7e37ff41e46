package launch

// Sockets are the inodes of the sockets that processes of the command have open. It is empty
// where that cannot be seen, on other systems than Linux. A process that has just started, or a
// socket, may be missing: what is wanted is looked for again.
func (p *Process) Sockets() map[uint64]bool {
	helper := p.helperPID()
	if helper == 0 {
		return nil
	}
	return socketsBelow(helper)
}

// helperPID is the helper's, 0 while there is none.
func (p *Process) helperPID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return 0
	}
	return p.helper
}
