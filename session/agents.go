package session

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"acp-agent/kinds"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// agents are the main agent of a session, the manifests of its subagents, and the tree of the
// subagents. Their rules are in agentPolicies. They are safe for concurrent use.
type agents struct {
	opened
	project *project
	// manifest and tools are the main agent's, node is its node in the tree.
	manifest subagent.Manifest
	tools    *pipeline.Pipeline
	tree     *subagent.Tree
	node     *subagent.Node
	// modePolicies are replaced when the tools change.
	modePolicies atomic.Pointer[modePolicies]

	mu      sync.Mutex // guards what follows
	catalog *subagent.Catalog
	trusted bool   // the project was trusted when the catalog was read
	hash    string // of the project's files when the catalog was read
}

// adopt gives the main agent the tools of a registry, and sorts them by mode.
func (a *agents) adopt(registry *tools.Registry) {
	a.sortTools(registry)
	a.tools.Adopt(registry)
}

// unsettled says why files may not be put back at the moment; "" when they may.
func (a *agents) unsettled(ctx context.Context) string {
	if n := a.tree.ActiveCount(); n > 0 {
		return "Subagents are still at work, and may change files. Wait for them, or stop them with `/tasks stop all`; then repeat the command.\n"
	}
	if err := a.tools.WaitForAbandoned(ctx); err != nil {
		return "Nothing was changed: " + kinds.Visible(err.Error()) + "\n"
	}
	return ""
}

// manifests returns the manifests in force now, the project's among them only while the user trusts
// it as it is. When that changes, all manifests are read again.
func (a *agents) manifests() *subagent.Catalog {
	confirmed := a.project.confirmTrust()
	now, trusted, problem := a.project.lastRead() // of a later read, perhaps: both have to agree
	trusted = trusted && confirmed
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.catalog == nil || a.trusted != trusted || a.hash != now.Hash {
		a.trusted, a.hash = trusted, now.Hash
		o := a.host.Manifests
		o.Dir, o.Project, o.Unbound, o.Trusted, o.Settings = a.project.dir, now, problem, trusted, a.settings.Subagents.Slots
		a.catalog = subagent.Load(o)
	}
	return a.catalog
}

// choose decides which agent the user talks to: the one that the client names, else the stored one if
// it is still there, else the configured one.
func (a *agents) choose(stored string) error {
	err := a.chooseNamed(cmp.Or(a.spec.Agent, stored, a.settings.Agent))
	if err != nil && stored != "" && a.spec.Agent == "" {
		return a.chooseNamed(a.settings.Agent)
	}
	return err
}

func (a *agents) chooseNamed(name string) error {
	a.manifest = a.host.Manifest
	if name == "" || name == a.manifest.Name {
		return nil
	}
	legal := []string{a.manifest.Name}
	for _, entry := range a.manifests().Entries() {
		if entry.Unused != "" || entry.Mode == subagent.Subagent || entry.Hidden {
			continue
		}
		if legal = append(legal, entry.Name); entry.Name == name {
			a.manifest = entry.Manifest
		}
	}
	if a.manifest.Name != name {
		return &BadValueError{What: "agent", Got: name, Legal: legal}
	}
	return nil
}

// notices say which parts of the manifests cannot be used.
func (a *agents) notices() []transcript.Notice {
	var list []transcript.Notice
	for _, problem := range a.manifests().Problems() {
		severity := transcript.Warning
		if problem.Warning {
			severity = transcript.Info
		}
		list = append(list, transcript.Notice{Severity: severity, Title: "Agents", Text: problem.String()})
	}
	return list
}
