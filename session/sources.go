package session

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/record"
	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/provider"
	"acp-agent/transcript"
)

// firstWait is how long a prompt waits for the sources of tools: a quick source has its tools
// in the first request, and a dead one costs no more than that once, and later prompts
// nothing. onlyWait is the same where the first prompt is the only one.
const (
	firstWait = 2 * time.Second
	onlyWait  = 10 * time.Second
)

// source is where tools come from that are not there at once: scripts and modules that
// describe themselves, MCP servers, external providers.
type source interface {
	// Settle waits until each part of the source that started at or after since has answered or
	// failed, or ctx ends.
	Settle(ctx context.Context, since time.Time)
	// Tools are the known tools. generation is another one when they have changed.
	Tools() (list []tools.Tool, generation int)
}

// described are the modules and scripts of the host, which are asked once for all sessions.
type described struct{ *mount.Mounting }

// Tools implements source.
func (d described) Tools() ([]tools.Tool, int) { return d.Asked() }

// sources are the programs and servers that a session has tools from: modules and scripts
// (this file), MCP servers (servers.go, signin.go), external providers (providers.go) and
// language servers (languages.go). They are safe for concurrent use; close ends them.
type sources struct {
	sourcesOptions
	languages languages
	providers *provider.Service
	servers   *servers

	mu      sync.Mutex // guards what follows
	adopted []int      // the generations of the sources' tools that the pipeline has
}

// sourcesOptions are what sources are made of.
type sourcesOptions struct {
	opened
	project      *project
	conversation *conversation
	// adopt makes the tools of a registry those of the session.
	adopt func(*tools.Registry)
	// playJob shows what a recording has of a job.
	playJob func(data []byte)
}

// newSources returns the sources of a session; none is started.
func newSources(o sourcesOptions) *sources {
	s := &sources{sourcesOptions: o, languages: newLanguages(o.work, o.host.Languages, o.host.Tape)}
	s.providers, s.servers = s.newProviders(), newServers(o.opened, o.project, o.conversation)
	s.adopted = make([]int, len(s.all()))
	s.listen()
	return s
}

// filesChanged tells language servers, which do not watch the disk, and the rules of the project
// of files that changed.
func (s *sources) filesChanged(paths []string) {
	if len(paths) > 0 {
		s.languages.Changed(paths...)
		s.project.filesChanged(paths)
	}
}

// close ends all programs and connections.
func (s *sources) close() {
	s.languages.Close()
	s.providers.Close()
	s.servers.Close()
}

// all are the sources of tools. Of two tools of one name, that of the first stays.
func (s *sources) all() []source {
	list := []source{s.servers, s.providers}
	if s.host.Mounting != nil {
		list = slices.Insert(list, 0, source(described{s.host.Mounting}))
	}
	return list
}

// startUserSources starts the user's own sources of tools; startAll also starts the MCP
// servers. Neither blocks.
func (s *sources) startUserSources() {
	if s.host.Tape.Plays() {
		return
	}
	if s.host.Mounting != nil {
		s.host.Mounting.Begin()
	}
	s.providers.Begin()
}

func (s *sources) startAll() {
	s.startUserSources()
	s.servers.connect()
}

// refresh brings the tools from elsewhere up to date before a turn, or before a command that
// lists tools. It waits once for all sources, which started with the session, and for none of
// them twice.
func (s *sources) refresh(ctx context.Context) {
	limit := cmp.Or(s.host.FirstWait, firstWait)
	since := time.Now().Add(-limit)
	if s.spec.Waits {
		limit, since = onlyWait, time.Time{}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.startAll()
	s.settle(ctx, since)
}

// awaitOnly starts the sources and waits for them where the command that lists them is the
// only prompt. It adopts nothing, so that it may be used during a turn.
func (s *sources) awaitOnly(ctx context.Context) {
	if !s.spec.Waits {
		return
	}
	s.startAll()
	ctx, cancel := context.WithTimeout(ctx, onlyWait)
	defer cancel()
	for _, from := range s.all() {
		from.Settle(ctx, time.Time{})
	}
}

// await starts the modules and scripts, the external providers, and with servers the MCP
// servers, and waits until each has answered or has failed, or ctx ends; then their tools are
// there.
func (s *sources) await(ctx context.Context, servers bool) {
	if servers {
		s.startAll()
	} else {
		s.startUserSources()
	}
	s.settle(ctx, time.Time{})
}

// awaitTool starts the sources that may have a tool which is not here, as has reports. The name says
// which: the toolbox prefix means scripts and providers; a name with "_" may also be SERVER_TOOL, so
// modules are asked first and MCP servers after them; any other name can only be a module's.
func (s *sources) awaitTool(ctx context.Context, tool string, has func() bool) {
	switch {
	case has():
	case strings.HasPrefix(tool, mount.ToolboxPrefix):
		s.await(ctx, false)
	case strings.Contains(tool, "_"):
		if s.awaitModules(ctx); !has() {
			s.awaitServers(ctx)
		}
	default:
		s.awaitModules(ctx)
	}
}

// awaitServers connects to the servers and waits until each has been reached or has failed,
// or ctx ends; then their tools are there.
func (s *sources) awaitServers(ctx context.Context) {
	s.servers.connect()
	s.servers.Settle(ctx, time.Time{})
	s.adoptTools()
}

// awaitModules asks the modules and scripts that describe themselves, and waits for them.
func (s *sources) awaitModules(ctx context.Context) {
	if m := s.host.Mounting; m != nil && m.Asks() {
		m.Begin()
		m.Settle(ctx, time.Time{})
		s.adoptTools()
	}
}

func (s *sources) settle(ctx context.Context, since time.Time) {
	for _, from := range s.all() {
		if !s.host.Tape.Plays() {
			from.Settle(ctx, since)
		}
	}
	s.adoptTools()
}

// known are the tools from elsewhere that are known now; changed says that they are others than
// before.
func (s *sources) known() (all []tools.Tool, changed bool) {
	var now []int
	for _, from := range s.all() {
		list, generation := from.Tools()
		all, now = append(all, list...), append(now, generation)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = !slices.Equal(s.adopted, now)
	s.adopted = now
	return all, changed
}

// adoptTools makes the tools from elsewhere that are known now those of the session, if they
// have changed. It replaces all at once, so that the model keeps what it has found, and
// subagents what they have.
func (s *sources) adoptTools() {
	all, changed := s.elsewhere()
	if !changed {
		return
	}
	registry, refused := s.host.Registry.With(all...)
	s.adopt(registry)
	for _, err := range refused {
		text := err.Error()
		s.host.Logger.Warn("tool left out", "session", s.ID, "problem", text)
		s.conversation.notices.once(text, transcript.Notice{Severity: transcript.Warning, Title: "Tool left out", Text: text})
	}
}

// notifyProblems tells the user once what is wrong with each source.
func (s *sources) notifyProblems() {
	for _, p := range record.Value(s.host.Tape, "source problems", s.ID, s.problems) {
		s.conversation.notices.once(p.Key, p.Notice)
	}
}

// problem is what is wrong with a source. Key names it: it is told once.
type problem struct {
	Key    string
	Notice transcript.Notice
}

func (s *sources) problems() (list []problem) {
	for _, notice := range s.host.problems() {
		list = append(list, problem{notice.Text, notice})
	}
	return slices.Concat(list, s.servers.problems(), s.providerProblems())
}
