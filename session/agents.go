package session

import (
	"cmp"
	"context"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// agents are the main agent of a session, the manifests that it delegates to, and the tree of
// its subagents. They are safe for concurrent use.
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

	mu       sync.Mutex // guards what follows
	catalog  *subagent.Catalog
	trusted  bool   // the project was, when the catalog was read
	hash     string // of what the project held then
	policies map[string]*agentPolicy
	order    []string // of policies
	// expected are answers of a stored session to subagents that have not been needed since.
	expected []storedAnswers
}

// adopt makes the tools of a registry those of the main agent, and sorts them by mode.
func (a *agents) adopt(registry *tools.Registry) {
	a.sortTools(registry)
	a.tools.Adopt(registry)
}

// unsettled says why no file may be taken back at the moment; "" when it may.
func (a *agents) unsettled(ctx context.Context) string {
	if n := a.tree.ActiveCount(); n > 0 {
		return "Subagents are still at work, and may change files. Wait for them, or stop them with `/tasks stop all`; then repeat the command.\n"
	}
	if err := a.tools.WaitForAbandoned(ctx); err != nil {
		return "Nothing was changed: " + kinds.Visible(err.Error()) + "\n"
	}
	return ""
}

// agentPolicy is what the agents of one path of names have in common as long as the session
// lives: an "always" is given to an agent by its name, not to one run of it.
type agentPolicy struct {
	names    []string
	manifest subagent.Manifest
	policy   *pipeline.Policy
	above    *pipeline.Policy // of the agent that delegated
	digest   string           // of the manifest and of those above it
}

// manifests returns the manifests in force now: those of the project only while the user
// trusts it as it is. When that changes, the others are read again with them.
func (a *agents) manifests() *subagent.Catalog {
	confirmed := a.project.confirmTrust()
	now, trusted, problem := a.project.lastRead() // which may be later
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

// choose settles which agent the user talks to: in a session that goes on the stored one, if it
// is still there.
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

// policyOf returns the policy of a subagent. Another manifest of the same name has another
// policy, and so have the agents below it.
func (a *agents) policyOf(n *subagent.Node) *agentPolicy {
	m, names, parent := n.Manifest(), n.Names(), n.Parent().Tools().Policy
	a.mu.Lock()
	defer a.mu.Unlock()
	key := strings.Join(names, "/")
	if have := a.policies[key]; have != nil && have.above == parent && reflect.DeepEqual(have.manifest, m) {
		return have
	}
	made := &agentPolicy{names: names, manifest: m, policy: parent.Delegate(delegation(m)), above: parent, digest: a.digestOf(names, m, parent)}
	a.restoreInto(made)
	if a.policies == nil {
		a.policies = map[string]*agentPolicy{}
	}
	if a.policies[key] == nil {
		a.order = append(a.order, key)
	}
	a.policies[key] = made
	return made
}

// delegation says how the rules of a manifest count. The user's own manifests may allow; all
// others can only narrow (R64).
func delegation(m subagent.Manifest) pipeline.PolicyDelegation {
	d := pipeline.PolicyDelegation{Restricted: m.Level != subagent.Inherit}
	if m.Origin == subagent.User {
		d.UserManifest = m.Rules
	} else {
		d.Manifest = m.Rules
	}
	return d
}

// policiesInUse are the policies of subagents, in the order in which they were needed.
func (a *agents) policiesInUse() []*agentPolicy {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*agentPolicy, 0, len(a.order))
	for _, key := range a.order {
		list = append(list, a.policies[key])
	}
	return list
}

// answers are the rules that the user's answers gave to a subagent.
func (f *agentPolicy) answers() []permissions.Rule { return f.policy.Rules().In(permissions.Session) }

// notices say what of the manifests cannot be used.
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
