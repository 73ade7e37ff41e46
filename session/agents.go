package session

import (
	"cmp"
	"reflect"
	"strings"
	"sync"

	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// agents are the manifests that a session delegates to, and what it keeps by the names
// of its subagents.
type agents struct {
	mu       sync.Mutex
	catalog  *subagent.Catalog
	trusted  bool   // the project was, when they were read
	hash     string // of what the project held then
	policies map[string]*agentPolicy
	order    []string // of policies
}

// agentPolicy is what the agents of one path of names have in common as long as the session
// lives: an "always" is given to an agent by its name, not to one run of it.
type agentPolicy struct {
	names    []string
	manifest subagent.Manifest
	policy   *pipeline.Policy
	above    *pipeline.Policy // of the agent that delegated
}

// Agents returns the manifests in force now: those of the project only while the person
// trusts it as it is. When that changes, the others are read again with them.
func (s *Session) Agents() *subagent.Catalog {
	confirmed := s.project.confirmTrust()
	now, trusted, problem := s.project.lastRead() // which may be later
	trusted = trusted && confirmed
	a := &s.agents
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.catalog == nil || a.trusted != trusted || a.hash != now.Hash {
		a.trusted, a.hash = trusted, now.Hash
		o := s.host.Manifests
		o.Dir, o.Project, o.Unbound, o.Trusted, o.Settings = s.project.dir, now, problem, trusted, s.settings.Subagents.Slots
		a.catalog = subagent.Load(o)
	}
	return a.catalog
}

// chooseAgent settles which agent the person talks to. What its manifest says of its
// tools, rules and limits holds as for any agent.
func (s *Session) chooseAgent() error {
	s.manifest = s.host.Manifest
	name := cmp.Or(s.spec.Agent, s.settings.Agent)
	if name == "" || name == s.manifest.Name {
		return nil
	}
	legal := []string{s.manifest.Name}
	for _, entry := range s.Agents().Entries() {
		if entry.Unused != "" || entry.Mode == subagent.Subagent || entry.Hidden {
			continue
		}
		if legal = append(legal, entry.Name); entry.Name == name {
			s.manifest = entry.Manifest
		}
	}
	if s.manifest.Name != name {
		return &BadValueError{What: "agent", Got: name, Legal: legal}
	}
	if s.manifest.Model != "" {
		s.choices.setModel(s.manifest.Model)
	}
	s.policy.Take(delegation(s.manifest))
	return nil
}

// policyOf returns that of a subagent. Another manifest of the same name has another, and
// so have those below it.
func (a *agents) policyOf(n *subagent.Node) *agentPolicy {
	m, names, parent := n.Manifest(), n.Names(), n.Parent().Tools().Policy
	a.mu.Lock()
	defer a.mu.Unlock()
	key := strings.Join(names, "/")
	if have := a.policies[key]; have != nil && have.above == parent && reflect.DeepEqual(have.manifest, m) {
		return have
	}
	made := &agentPolicy{names: names, manifest: m, policy: parent.Delegate(delegation(m)), above: parent}
	if a.policies == nil {
		a.policies = map[string]*agentPolicy{}
	}
	if a.policies[key] == nil {
		a.order = append(a.order, key)
	}
	a.policies[key] = made
	return made
}

// delegation says how the rules of a manifest count. Those of the person's own are their
// word; all others can only narrow (R64).
func delegation(m subagent.Manifest) pipeline.PolicyDelegation {
	d := pipeline.PolicyDelegation{Restricted: m.Level != subagent.Inherit}
	if m.Origin == subagent.User {
		d.Given = m.Rules
	} else {
		d.Manifest = m.Rules
	}
	return d
}

// policiesInUse are those in use, in the order in which they were needed.
func (a *agents) policiesInUse() []*agentPolicy {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*agentPolicy, 0, len(a.order))
	for _, key := range a.order {
		list = append(list, a.policies[key])
	}
	return list
}

// answers are the rules that the person's answers gave to a subagent.
func (f *agentPolicy) answers() []permissions.Rule { return f.policy.Rules().In(permissions.Session) }

// agentNotices say what of the manifests cannot be used.
func (s *Session) agentNotices() []transcript.Notice {
	var list []transcript.Notice
	for _, problem := range s.Agents().Problems() {
		severity := transcript.Warning
		if problem.Warning {
			severity = transcript.Info
		}
		list = append(list, transcript.Notice{Severity: severity, Title: "Agents", Text: problem.String()})
	}
	return list
}
