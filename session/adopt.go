package session

// adopted is the tools from elsewhere that the pipeline has: their generations.
type adopted struct{ servers, providers int }

// adoptTools has the pipeline take the tools that MCP servers and providers have by now,
// if they are others than before. It takes those of both at once: none is away meanwhile,
// so the model keeps what it has found, and subagents what they have.
func (s *Session) adoptTools() {
	fromServers, servers := s.servers.Tools()
	fromProviders, providers := s.providers.Tools()
	now := adopted{servers, providers}
	s.mu.Lock()
	same := s.adopted == now
	s.adopted = now
	s.mu.Unlock()
	if same {
		return
	}
	registry, refused := s.host.Registry.With(fromServers...)
	for _, err := range refused {
		s.host.Logger.Warn("mcp tool left out", "session", s.ID, "problem", err.Error())
	}
	registry, refused = registry.With(fromProviders...)
	s.tools.Adopt(registry)
	for _, err := range refused {
		s.warnOfProvider(err)
	}
}
