package session

import (
	"context"
	"slices"
	"time"

	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/transcript"
)

// firstWait is how long a prompt waits for those who have tools: whoever is quick is there
// at the first request, and who is dead costs no more, and later prompts nothing. onlyWait
// is the same where the first prompt is the only one.
const (
	firstWait = 2 * time.Second
	onlyWait  = 10 * time.Second
)

// source is where tools come from that are not there at once: scripts and modules that
// describe themselves, MCP servers, external providers.
type source interface {
	// Settle waits until all is known that can be known now, or ctx ends; not for what
	// was begun before since.
	Settle(ctx context.Context, since time.Time)
	// Tools are those that are known. generation is another one when they have changed.
	Tools() (list []tools.Tool, generation int)
}

// described are the modules and scripts of the host, which are asked once for all sessions.
type described struct{ *mount.Mounting }

// Tools implements source.
func (d described) Tools() ([]tools.Tool, int) { return d.Asked() }

// sources are all of them. Of two tools of one name, that of the first stays.
func (s *Session) sources() []source {
	list := []source{s.servers, s.providers}
	if s.host.Mounting != nil {
		list = slices.Insert(list, 0, source(described{s.host.Mounting}))
	}
	return list
}

// beginOwn has those begun that are the person's alone, who have tools, and beginAll the
// MCP servers, too; neither waits.
func (s *Session) beginOwn() {
	if s.host.Mounting != nil {
		s.host.Mounting.Begin()
	}
	s.providers.Begin()
}

func (s *Session) beginAll() {
	s.beginOwn()
	s.connectServers()
}

// refreshTools brings the tools from elsewhere up to date before a turn, or before a command
// that tells of tools. It is one wait for all, who were begun when the session was, and for
// nobody twice.
func (s *Session) refreshTools(ctx context.Context) {
	limit, since := firstWait, time.Now().Add(-firstWait)
	if s.spec.Waits {
		limit, since = onlyWait, time.Time{}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.beginAll()
	s.settle(ctx, since)
}

// awaitOnly has those begun of whom a command tells, and waits for them, where the command
// is the only prompt, before which nobody was. It adopts nothing: it is for use beside a
// turn, too.
func (s *Session) awaitOnly(ctx context.Context) {
	if !s.spec.Waits {
		return
	}
	s.beginAll()
	ctx, cancel := context.WithTimeout(ctx, onlyWait)
	defer cancel()
	for _, from := range s.sources() {
		from.Settle(ctx, time.Time{})
	}
}

// AwaitTools asks the modules and scripts, reaches for the external providers, and with
// servers for the MCP servers, and waits until each has answered or has failed, or ctx
// ends; then their tools are there. It is not for use during a turn, within which the
// tools do not change (R91).
func (s *Session) AwaitTools(ctx context.Context, servers bool) {
	if servers {
		s.beginAll()
	} else {
		s.beginOwn()
	}
	s.settle(ctx, time.Time{})
}

func (s *Session) settle(ctx context.Context, since time.Time) {
	for _, from := range s.sources() {
		from.Settle(ctx, since)
	}
	s.adoptTools()
}

// adoptTools has the pipeline take the tools from elsewhere that there are by now, if they
// are others than before. It takes all at once: none is away meanwhile, so the model keeps
// what it has found, and subagents what they have.
func (s *Session) adoptTools() {
	var now []int
	var all []tools.Tool
	for _, from := range s.sources() {
		list, generation := from.Tools()
		all, now = append(all, list...), append(now, generation)
	}
	s.mu.Lock()
	same := slices.Equal(s.adopted, now)
	s.adopted = now
	s.mu.Unlock()
	if same {
		return
	}
	registry, refused := s.host.Registry.With(all...)
	s.modePolicies.Store(newModePolicies(registry.All(), s.work.Session().Scratch))
	s.tools.Adopt(registry)
	for _, err := range refused {
		text := err.Error()
		s.host.Logger.Warn("tool left out", "session", s.ID, "problem", text)
		s.notices.once(text, transcript.Notice{Severity: transcript.Warning, Title: "Tool left out", Text: text})
	}
}

// sayProblems says once what is wrong with those who have tools.
func (s *Session) sayProblems() {
	for _, notice := range s.host.problems() {
		s.notices.once(notice.Text, notice)
	}
	s.sayServers()
	s.sayProviders()
}
