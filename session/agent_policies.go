package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools/pipeline"
)

// agentPolicies are the rules of the subagents of a session. They last as long as the session, longer
// than one run of a subagent. They are safe for concurrent use.
type agentPolicies struct {
	mu    sync.Mutex // guards what follows
	known map[string]*agentPolicy
	order []string // the keys of known, oldest first
	// expected are answers that a stored session gave to subagents that have not run since it was
	// opened again.
	expected []storedAnswers
}

func newAgentPolicies() *agentPolicies { return &agentPolicies{known: map[string]*agentPolicy{}} }

// agentPolicy has the rules of all runs of a subagent with one path of names: the user answers
// "always" to an agent of that name, not to one run of it.
type agentPolicy struct {
	names    []string
	manifest subagent.Manifest
	policy   *pipeline.Policy
	above    *pipeline.Policy // of the agent that delegated
	digest   string           // of the manifest and of those above it
}

// of returns the policy of a subagent with a path of names, below the agent whose policy is parent. A
// changed manifest of the same name starts with a new policy, and so do the agents below it.
func (a *agentPolicies) of(m subagent.Manifest, names []string, parent *pipeline.Policy) *agentPolicy {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := strings.Join(names, "/")
	if have := a.known[key]; have != nil && have.above == parent && reflect.DeepEqual(have.manifest, m) {
		return have
	}
	made := &agentPolicy{names: names, manifest: m, policy: parent.Delegate(delegation(m)), above: parent, digest: a.digestOf(names, m, parent)}
	a.restoreInto(made)
	if a.known[key] == nil {
		a.order = append(a.order, key)
	}
	a.known[key] = made
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

// inUse are the policies of the subagents that have run, in the order of their first runs.
func (a *agentPolicies) inUse() []*agentPolicy {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*agentPolicy, 0, len(a.order))
	for _, key := range a.order {
		list = append(list, a.known[key])
	}
	return list
}

// answers are the rules that the user's answers gave to a subagent.
func (p *agentPolicy) answers() []permissions.Rule { return p.policy.Rules().In(permissions.Session) }

// answers are the user's answers to all subagents, including subagents of a resumed session that have not run again.
func (a *agentPolicies) answers() []storedAnswers {
	list := []storedAnswers{}
	for _, p := range a.inUse() {
		if rules, here := answersIn(p.policy); len(rules) > 0 {
			list = append(list, storedAnswers{p.names, p.digest, rules, here})
		}
	}
	return append(list, a.expectedAnswers()...)
}

// expect notes the answers of the stored session, for the subagents to which they were given.
func (a *agentPolicies) expect(list []storedAnswers) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expected = list
}

// expectedAnswers are the answers to subagents that have not run again.
func (a *agentPolicies) expectedAnswers() []storedAnswers {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.expected)
}

// restoreInto moves the answers that a policy's agent had in the stored session into the policy, unless
// a manifest has changed since. mu is held.
func (a *agentPolicies) restoreInto(p *agentPolicy) {
	for i, f := range a.expected {
		if !slices.Equal(f.Names, p.names) {
			continue
		}
		if f.Manifests == p.digest && p.digest != "" {
			p.policy.Restore(f.Rules, f.Here)
		}
		a.expected = slices.Delete(slices.Clone(a.expected), i, i+1)
		return
	}
}

// forgetExpected drops an answer to a subagent that has not run again, and reports whether it was
// there.
func (a *agentPolicies) forgetExpected(names []string, rule permissions.Rule) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, f := range a.expected {
		at := slices.Index(f.Rules, rule)
		if at < 0 || !slices.Equal(f.Names, names) {
			continue
		}
		f.Rules = slices.Delete(slices.Clone(f.Rules), at, at+1)
		a.expected = slices.Clone(a.expected)
		if a.expected[i] = f; len(f.Rules) == 0 {
			a.expected = slices.Delete(a.expected, i, i+1)
		}
		return true
	}
	return false
}

// digestOf is a digest of a manifest and of the manifests above it; policy is the parent's. It is ""
// where one of them cannot be compared later. mu is held.
func (a *agentPolicies) digestOf(names []string, m subagent.Manifest, policy *pipeline.Policy) string {
	above := ""
	if len(names) > 1 {
		parent := a.known[strings.Join(names[:len(names)-1], "/")]
		if parent == nil || parent.policy != policy {
			return ""
		}
		if above = parent.digest; above == "" {
			return ""
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(above), data...))
	return hex.EncodeToString(sum[:])
}
