package session

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/audit"
	"acp-agent/internal/record"
	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/provider"
	"acp-agent/transcript"
)

// firstWait is how long the first prompt waits for the sources of tools. A quick source has its tools in
// the first request; a dead one delays the first prompt by no more than this, and later prompts not at
// all. onlyWait takes its place where the first prompt is the only one.
const (
	firstWait = 2 * time.Second
	onlyWait  = 10 * time.Second
)

// source has tools that have to be asked for: scripts and modules that describe themselves, MCP servers,
// external providers.
type source interface {
	// Settle waits until each part of the source that started at or after since has answered or
	// failed, or ctx ends.
	Settle(ctx context.Context, since time.Time)
	// Tools are the tools that are known now. generation changes with them.
	Tools() (list []tools.Tool, generation int)
}

// described is the source of modules and scripts, which the [Host] asks once for all sessions.
type described struct{ *mount.Mounting }

// Tools implements source.
func (d described) Tools() ([]tools.Tool, int) { return d.Answered() }

// sources are the programs and servers that a session has tools from: modules and scripts
// (this file), MCP servers (servers.go, signin.go), external providers (providers.go) and
// language servers (languages.go). They are safe for concurrent use; close ends them.
type sources struct {
	sourcesOptions
	languages languages
	providers *provider.Service
	networks  providerNetworks
	servers   *servers

	mu      sync.Mutex // guards what follows
	adopted []int      // the generations of the sources' tools that the pipeline has
}

// sourcesOptions are what sources are made of.
type sourcesOptions struct {
	opened
	project      *project
	conversation *conversation
	policy       *pipeline.Policy // of the main agent
	audit        *audit.Log       // nil when none is kept
	// adopt makes the tools of a registry those of the session.
	adopt func(*tools.Registry)
}

// newSources returns the sources of a session; none is started.
func newSources(o sourcesOptions) *sources {
	s := &sources{sourcesOptions: o, languages: newLanguages(o.work, o.host.Languages, o.host.Tape)}
	s.providers, s.servers = s.newProviders(), newServers(o.opened, o.project, o.conversation, o.policy, o.audit)
	s.adopted = make([]int, len(s.all()))
	return s
}

// filesChanged passes changed files on to the language servers, which do not watch the disk, and to the
// project, whose trust may end with them.
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

// all lists the sources of tools. Of two tools with one name, the first source's stays.
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
		s.host.Mounting.StartAsking()
	}
	s.providers.Begin()
}

func (s *sources) startAll() {
	s.startUserSources()
	s.servers.connect()
}

// refresh brings the tools from elsewhere up to date, before a turn or before a command that lists
// tools. It waits only for sources that started within firstWait, so that no source is waited for
// twice.
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

// awaitForOnlyPrompt starts the sources and waits for them, if the command that lists them is the only
// prompt. It adopts no tools, so that it may be used during a turn.
func (s *sources) awaitForOnlyPrompt(ctx context.Context) {
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

// await starts the modules and scripts, the external providers, and with servers the MCP servers. It
// waits until each has answered or failed, or ctx ends, and adopts their tools.
func (s *sources) await(ctx context.Context, servers bool) {
	if servers {
		s.startAll()
	} else {
		s.startUserSources()
	}
	s.settle(ctx, time.Time{})
}

// awaitTool starts the sources that may have a tool, unless has reports that it is there. The name of
// the tool decides: the toolbox prefix means scripts and providers; a name with "_" may also be
// SERVER_TOOL, so modules are asked first and MCP servers after them; any other name can only be a
// module's.
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

// awaitServers connects to the MCP servers, waits until each has been reached or has failed, or ctx
// ends, and adopts their tools.
func (s *sources) awaitServers(ctx context.Context) {
	s.servers.connect()
	s.servers.Settle(ctx, time.Time{})
	s.adoptTools()
}

// awaitModules asks the modules and scripts that describe themselves, and waits for them.
func (s *sources) awaitModules(ctx context.Context) {
	if m := s.host.Mounting; m != nil && m.NeedsAsking() {
		m.StartAsking()
		m.Settle(ctx, time.Time{})
		s.adoptTools()
	}
}

// settle waits for the sources that started at or after since, and adopts their tools.
func (s *sources) settle(ctx context.Context, since time.Time) {
	s.adoptToolsAfter(func() {
		for _, from := range s.all() {
			from.Settle(ctx, since)
		}
	})
}

// poll returns the tools that the sources have now; changed says that they differ from the tools of
// the last call.
func (s *sources) poll() (all []tools.Tool, changed bool) {
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

// adoptTools gives the session the tools that the sources have now, if they have changed. The registry
// is replaced as a whole: a running subagent keeps the one that it has.
func (s *sources) adoptTools() { s.adoptToolsAfter(func() {}) }

func (s *sources) adoptToolsAfter(wait func()) {
	all, changed := s.foreign(wait)
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

// notifyProblems tells the user about each problem of a source once.
func (s *sources) notifyProblems() {
	for _, p := range record.Value(s.host.Tape, "source problems", s.ID, s.problems) {
		s.conversation.notices.once(p.Key, p.Notice)
	}
}

// problem is a notice that something does not work: a source of tools, or something of the machine. The user
// is told once about each Key.
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
