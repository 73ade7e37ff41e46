package session

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// project is what the user decided about the directory that a session works in: whether it is trusted,
// and the rules that hold in it. trust.go has the offer that the user decides about. A project is safe
// for concurrent use.
type project struct {
	projectOptions

	// refreshMu is held from a read of the disk until mu guards its result, so that the later read
	// counts. It is taken before mu. Nothing is read under mu alone: a change of mode must not wait
	// for the disk.
	refreshMu sync.Mutex

	mu sync.Mutex // guards what follows, and is held while the rules of policy are replaced
	// offer is what the project's file and the user's settings offer for trust.
	offer   projectOffer
	record  projects.Record
	now     projects.Snapshot
	problem error // why the project cannot be trusted
	broken  error // why the record could not be read
}

// projectOptions are what a project is made of.
type projectOptions struct {
	// dir is canonical; store is nil where nothing can be stored.
	dir   string
	store *projects.Store
	tape  *record.Tape
	// configure reads the settings of the directory again.
	configure func() (Settings, projectOffer, error)
	// rules are those of the project's configuration that only tighten, and hold without trust.
	rules []permissions.Rule
	// policy takes the rules in force.
	policy *pipeline.Policy
	// mode is the mode whose rules are in force. It is called with mu held, so that the mode
	// that was read last is the one that counts.
	mode func() permissions.Mode
	// trustChanged starts or ends what depends on trust. It is called without a lock.
	trustChanged func()
}

// projectOffer is what takes effect once the user trusts the project. It is bound to the content from
// which it was read.
type projectOffer struct {
	rules   []permissions.Rule
	servers []mcp.Server
	// allows says in words what else trust allows.
	allows []string
	// hash is the hash of the project's configuration; "" when that changed during the read.
	hash string
}

// configure reads the settings of a directory, and what takes effect with trust in it.
func (h *Host) configure(cwd string) (settings Settings, offer projectOffer, err error) {
	before, _ := scan(h.Tape, cwd)
	if settings, err = h.Configure(cwd); err != nil {
		return settings, offer, err
	}
	offer = projectOffer{rules: settings.Rules.Offered, servers: settings.OfferedServers, allows: settings.Rules.Trusting}
	if after, err := scan(h.Tape, cwd); err == nil && after.Hash == before.Hash {
		offer.hash = after.Hash
	}
	return settings, offer, nil
}

// scan is projects.Scan, recorded.
func scan(tape *record.Tape, dir string) (projects.Snapshot, error) {
	return record.Ask(tape, "project files", dir, func() (projects.Snapshot, error) { return projects.Scan(dir) })
}

// newProject returns a project with what the configuration offers for trust.
func newProject(o projectOptions, offer projectOffer) *project {
	return &project{projectOptions: o, offer: offer}
}

// snapshot is the content that trust would be bound to now: the project's configuration, and the files
// that its servers run (T4).
func (p *project) snapshot(servers []mcp.Server) (projects.Snapshot, error) {
	return record.Ask(p.tape, "project trust", p.dir, func() (projects.Snapshot, error) {
		now, err := projects.Scan(p.dir)
		if err != nil {
			return now, err
		}
		return now.With(p.dir, filesOf(p.dir, servers))
	})
}

// matchesTrust reports whether the user trusts the project as it was read last; mu is held.
func (p *project) matchesTrust() bool {
	return p.store != nil && p.problem == nil && p.record.Trusts(p.now)
}

// refresh reads the user's decisions and the project's content again, and puts the rules and what
// depends on trust in force. It is called before a turn and after a change of a file that trust is bound
// to, so that trust ends when the content changes (T4).
func (p *project) refresh() {
	p.refreshRules()
	p.trustChanged()
}

// refreshRules is refresh for the rules alone. It starts and ends nothing.
func (p *project) refreshRules() {
	p.refreshMu.Lock()
	defer p.refreshMu.Unlock()
	var stored projects.Record
	var now projects.Snapshot
	var problem, broken error
	if p.store != nil {
		stored, broken = record.Ask(p.tape, "project record", p.dir, func() (projects.Record, error) { return p.store.Load(p.dir) })
		now, problem = scan(p.tape, p.dir)
	}
	p.mu.Lock()
	offer := p.offer
	p.mu.Unlock()
	last := offer
	stale := problem == nil && now.Config != last.hash
	if stale {
		_, offer, problem = p.configure()
	}
	if problem == nil && p.store != nil {
		now, problem = record.Ask(p.tape, "project with servers", p.dir, func() (projects.Snapshot, error) { return now.With(p.dir, filesOf(p.dir, offer.servers)) })
	}
	if stale && problem != nil { // nothing is offered until the next refresh, which reads it again
		offer = projectOffer{allows: last.allows, hash: last.hash}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record, p.now, p.problem = stored, now, problem
	if broken != nil {
		p.broken = broken // kept, because a broken record is moved away and fails only once
	}
	p.offer = offer // the rules by which the project tightens stay those of the session's start
	p.applyRules()
}

// applyRules puts the rules of mode and project in force; mu is held.
func (p *project) applyRules() {
	trusted := p.matchesTrust()
	p.policy.SetDefaults(permissions.Defaults(p.mode(), trusted, builtin.Defaults()))
	rules := slices.Concat(p.rules, p.record.Rules)
	if trusted && p.now.Config == p.offer.hash {
		rules = append(rules, p.offer.rules...)
	}
	p.policy.Replace(permissions.Project, rules)
}

// applyMode puts the rules of the current mode in force.
func (p *project) applyMode() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.applyRules()
}

// trustedServers are the project's MCP servers while the user trusts the content that names them;
// otherwise none of them may start (T1, T4).
func (p *project) trustedServers() []mcp.Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.matchesTrust() && p.now.Config == p.offer.hash {
		return p.offer.servers
	}
	return nil
}

// offeredServers are the MCP servers that the project names.
func (p *project) offeredServers() []mcp.Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offer.servers
}

// lastRead is the project's content as it was read last, whether the user trusts that, and why it
// cannot be trusted; nil when it can.
func (p *project) lastRead() (now projects.Snapshot, trusted bool, problem error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now, p.matchesTrust(), p.problem
}

// confirmTrust reports whether the user trusts the project as it is now. If the trust has ended since
// the last read, it ends what depends on it.
func (p *project) confirmTrust() bool {
	trusted, gone := p.readTrusted()
	if gone {
		p.trustChanged()
	}
	return trusted
}

// readTrusted reads the project again if the user trusted it at the last read, and reports whether the
// user still does; gone says that the trust has ended with this read. The caller ends what depends on
// it.
func (p *project) readTrusted() (trusted, gone bool) {
	p.refreshMu.Lock()
	defer p.refreshMu.Unlock()
	p.mu.Lock()
	trusted = p.matchesTrust()
	servers := p.offer.servers
	p.mu.Unlock()
	if !trusted {
		return false, false
	}
	now, problem := p.snapshot(servers)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now, p.problem = now, problem; !p.matchesTrust() {
		p.applyRules()
		return false, true
	}
	return true, false
}

// update changes the stored decisions of the user, and puts them in force.
func (p *project) update(change func(r *projects.Record) error) error {
	if p.store == nil {
		return errNoTrust
	}
	err := p.store.Update(p.dir, change)
	p.refresh()
	return err
}

// storeRules stores rules for the project and puts them in force (R152).
func (p *project) storeRules(rules []permissions.Rule) error {
	return p.update(func(r *projects.Record) error { return r.AddRules(rules...) })
}

// filesChanged reads the project again when the agent itself has changed a file that trust is bound to.
func (p *project) filesChanged(paths []string) {
	p.mu.Lock()
	bound := p.now.Files
	p.mu.Unlock()
	for _, path := range paths {
		rel, err := filepath.Rel(p.dir, path)
		name := filepath.ToSlash(rel)
		if err == nil && (projects.Concerns(name) || slices.ContainsFunc(bound, func(f projects.File) bool { return f.Name == name })) {
			p.refresh()
			return
		}
	}
}

// notices say which of the user's decisions do not hold. content is the hash of the project's content
// for which they say it.
func (p *project) notices() (list []transcript.Notice, content string) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
	case p.record.Trust != nil && !p.matchesTrust():
		say(transcript.Warning, "Project not trusted", "The configuration of this project is not what you trusted: "+
			changedNames(projects.Changes(p.record.Trust.Files, p.now.Files))+". /trust shows the difference and asks you again.")
	case !p.matchesTrust() && len(p.offer.rules) > 0:
		say(transcript.Info, "Project's rules", fmt.Sprintf(
			"The project's configuration has %s that would allow calls without a question, once you trust the project: /trust shows them and asks.", kinds.Count(len(p.offer.rules), "rule")))
	case !p.matchesTrust() && len(p.offer.servers) > 0:
		say(transcript.Warning, "Project's MCP servers", fmt.Sprintf(
			"The project's configuration names %s. None is started before you trust the project: /trust shows them and asks.", kinds.Count(len(p.offer.servers), "MCP server")))
	}
	return list, p.now.Hash
}

// changedNames names changes in one line.
func changedNames(changes []projects.Change) string {
	const most = 8
	var names []string
	for _, c := range changes {
		names = append(names, kinds.Line(c.Name, 100)+" is "+c.What)
	}
	return strings.Join(firstOf(names, most), ", ")
}
