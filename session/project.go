package session

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/transcript"
)

// project is what the person decided about the directory that a session works in.
type project struct {
	// dir is canonical; store is nil where nothing can be remembered.
	dir   string
	store *projects.Store

	// looking is held from a look at the disk to its effect, so that the later look
	// counts. It is taken before mu, under which nothing is read: a change of mode must
	// not wait for a disk.
	looking sync.Mutex

	mu sync.Mutex // guards what follows, and the order of changes of the rules
	// offered and trusting are what the project's file and the person's settings offer
	// for trust, settled the hash of the configuration that they were read with. They
	// count with that content alone; "" is none.
	offered  []permissions.Rule
	trusting []string
	servers  []mcp.Server // offered, too
	settled  string

	record  projects.Record
	now     projects.Snapshot
	problem error // why the project cannot be trusted
	broken  error // why the record could not be read
}

// configure reads the settings of a directory, and the hash of the project's
// configuration that they surely belong to.
func (h *Host) configure(cwd string) (settings Settings, settled string, err error) {
	before, _ := projects.Scan(cwd)
	if settings, err = h.Configure(cwd); err != nil {
		return settings, "", err
	}
	if after, err := projects.Scan(cwd); err == nil && after.Hash == before.Hash {
		settled = after.Hash
	}
	return settings, settled, nil
}

// seen is one look at a project.
type seen struct {
	record          projects.Record
	now             projects.Snapshot
	problem, broken error
}

// look reads anew what the person decided and what the project holds now. It
// runs nothing.
func (p *project) look() (s seen) {
	if p.store == nil {
		return s
	}
	s.record, s.broken = p.store.Load(p.dir)
	s.now, s.problem = projects.Scan(p.dir)
	return s
}

// snapshot is what trust would be bound to now: the project's configuration, and the files
// that the servers run which it names (T4).
func snapshot(dir string, servers []mcp.Server) (projects.Snapshot, error) {
	now, err := projects.Scan(dir)
	if err != nil {
		return now, err
	}
	return now.With(dir, filesOf(dir, servers))
}

// trusted reports whether the person trusts the project as it is now; mu is held.
func (p *project) trusted() bool {
	return p.store != nil && p.problem == nil && p.record.Trusts(p.now)
}

// refreshProject brings the rules in line with what the person decided about the
// project and with what it holds now. It is called before a turn and after a
// change of a file that trust is bound to, so that trust ends with the content
// that it was given for (T4).
func (s *Session) refreshProject() {
	s.lookAgain()
	s.followTrust()
}

// lookAgain is refreshProject for the rules.
func (s *Session) lookAgain() {
	p := &s.project
	p.looking.Lock()
	defer p.looking.Unlock()
	look := p.look()
	p.mu.Lock()
	stale, servers := look.problem == nil && look.now.Config != p.settled, p.servers
	p.mu.Unlock()
	var settings Settings
	var settled string
	if stale {
		settings, settled, look.problem = s.host.configure(s.spec.Cwd)
		servers = settings.OfferedServers
	}
	if look.problem == nil && p.store != nil {
		look.now, look.problem = look.now.With(p.dir, filesOf(p.dir, servers))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record, p.now, p.problem = look.record, look.now, look.problem
	if look.broken != nil {
		p.broken = look.broken // kept: a record that was set aside is only missed once
	}
	switch {
	case stale && look.problem != nil:
		p.offered, p.servers = nil, nil
	case stale:
		// The rules by which the project tightens stay those of the session's start.
		p.offered, p.trusting, p.settled = settings.Offered, settings.Trusting, settled
		p.servers = settings.OfferedServers
	}
	s.applyProject()
}

// applyProject puts the rules of mode and project in force; the project's mu is
// held, so that the mode read last is the one that counts.
func (s *Session) applyProject() {
	trusted := s.project.trusted()
	s.policy.SetDefaults(permissions.Defaults(s.choices.enforced(), trusted))
	rules := slices.Concat(s.settings.Project, s.project.record.Rules)
	if trusted && s.project.now.Config == s.project.settled {
		rules = append(rules, s.project.offered...)
	}
	s.policy.Replace(permissions.Project, rules)
}

// projectServers are the project's MCP servers while the person trusts it with the content
// that names them; nothing of a project is started otherwise (T1, T4).
func (s *Session) projectServers() []mcp.Server {
	s.project.mu.Lock()
	defer s.project.mu.Unlock()
	if p := &s.project; p.trusted() && p.now.Config == p.settled {
		return p.servers
	}
	return nil
}

// offeredServers are the MCP servers that the project names.
func (s *Session) offeredServers() []mcp.Server {
	s.project.mu.Lock()
	defer s.project.mu.Unlock()
	return s.project.servers
}

// applyMode puts the rows of the mode in force.
func (s *Session) applyMode() {
	s.project.mu.Lock()
	defer s.project.mu.Unlock()
	s.applyProject()
}

// trusted reports whether the person trusts the project as it is now. A trust that
// has gone since the last look ends here, so that nothing runs on it, and what runs on it
// ends.
func (s *Session) trusted() bool {
	trusted, gone := s.stillTrusted()
	if gone {
		s.followTrust()
	}
	return trusted
}

// stillTrusted looks at the project if the person trusted it at the last look; gone says
// that this trust has ended.
func (s *Session) stillTrusted() (trusted, gone bool) {
	p := &s.project
	p.looking.Lock()
	defer p.looking.Unlock()
	p.mu.Lock()
	trusted = p.trusted()
	servers := p.servers
	p.mu.Unlock()
	if !trusted {
		return false, false
	}
	now, problem := snapshot(p.dir, servers)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now, p.problem = now, problem; !p.trusted() {
		s.applyProject()
		return false, true
	}
	return true, false
}

// keep stores rules for the project and puts them in force (R152).
func (s *Session) keep(rules []permissions.Rule) error {
	err := s.project.store.Update(s.project.dir, func(r *projects.Record) error { return r.AddRules(rules...) })
	if err == nil {
		s.refreshProject()
	}
	return err
}

// changedFiles looks at the project again when the agent itself changed what
// trust is bound to.
func (s *Session) changedFiles(paths []string) {
	s.project.mu.Lock()
	bound := s.project.now.Files
	s.project.mu.Unlock()
	for _, path := range paths {
		rel, err := filepath.Rel(s.project.dir, path)
		name := filepath.ToSlash(rel)
		if err == nil && (projects.Concerns(name) || slices.ContainsFunc(bound, func(f projects.File) bool { return f.Name == name })) {
			s.refreshProject()
			return
		}
	}
}

// projectNotices say what of the person's decisions does not hold, and with which content of
// the project.
func (s *Session) projectNotices() (list []transcript.Notice, content string) {
	s.project.mu.Lock()
	defer s.project.mu.Unlock()
	p := &s.project
	say := func(severity transcript.Severity, title, text string) {
		list = append(list, transcript.Notice{Severity: severity, Title: title, Text: text})
	}
	if p.broken != nil {
		say(transcript.Warning, "Decisions about this project", p.broken.Error())
	}
	switch {
	case p.record.Trust != nil && p.problem != nil:
		say(transcript.Warning, "Project not trusted",
			"You trusted this project, but its configuration cannot be read as a whole any more: "+kinds.Line(p.problem.Error(), lineRunes))
	case p.record.Trust != nil && !p.trusted():
		say(transcript.Warning, "Project not trusted", "The configuration of this project is not what you trusted: "+
			changedNames(projects.Changes(p.record.Trust.Files, p.now.Files))+". /trust shows the difference and asks you again.")
	case !p.trusted() && len(p.offered) > 0:
		say(transcript.Info, "Project's rules", fmt.Sprintf(
			"The project's configuration has %s that would allow calls without a question, once you trust the project: /trust shows them and asks.", kinds.Count(len(p.offered), "rule")))
	case !p.trusted() && len(p.servers) > 0:
		say(transcript.Warning, "Project's MCP servers", fmt.Sprintf(
			"The project's configuration names %s. None is started before you trust the project: /trust shows them and asks.", kinds.Count(len(p.servers), "MCP server")))
	}
	return list, p.now.Hash
}

// lineRunes bounds what a project says of itself in one line.
const lineRunes = 300

// changedNames names changes in one line.
func changedNames(changes []projects.Change) string {
	const most = 8
	var names []string
	for i, c := range changes {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(changes)-most))
			break
		}
		names = append(names, kinds.Line(c.Name, 100)+" is "+c.What)
	}
	return strings.Join(names, ", ")
}
