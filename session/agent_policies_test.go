package session

import (
	"slices"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools/pipeline"
)

// patterns are those of the answers that a subagent's policy has.
func patterns(p *agentPolicy) (list []string) {
	for _, rule := range p.answers() {
		list = append(list, rule.Pattern)
	}
	return list
}

func allowed(pattern string) permissions.Rule {
	return permissions.Rule{Permission: "bash", Pattern: pattern, Action: capability.Allow, Source: permissions.SourceAlways}
}

// An answer is given to an agent by its name: it holds for the next run of the same manifest, and
// not for another manifest of that name.
func TestAgentPolicies_ByNameAndManifest(t *testing.T) {
	a, main := newAgentPolicies(), pipeline.NewPolicy(permissions.Set{})
	manifest := subagent.Manifest{Name: "helper", Description: "Helps."}
	first := a.of(manifest, []string{"helper"}, main)
	first.policy.Add(permissions.Session, allowed("make *"))
	if again := a.of(manifest, []string{"helper"}, main); again != first {
		t.Error("the next run has another policy")
	}
	below := a.of(manifest, []string{"helper", "helper"}, first.policy)
	if below == first || below.digest == first.digest {
		t.Error("the agent below has the policy of the one above")
	}
	other := manifest
	other.Description = "Does something else."
	changed := a.of(other, []string{"helper"}, main)
	if list := patterns(changed); len(list) != 0 {
		t.Errorf("another manifest has the answers %q", list)
	}
	if inUse := a.inUse(); !slices.Equal(inUse, []*agentPolicy{changed, below}) {
		t.Errorf("%d policies are in use", len(inUse))
	}
}

// R146: an answer of a stored session waits for the agent that it was given to, and holds only if its
// manifest is the same still.
func TestAgentPolicies_StoredAnswers(t *testing.T) {
	main := pipeline.NewPolicy(permissions.Set{})
	manifest := subagent.Manifest{Name: "helper", Description: "Helps."}
	before := newAgentPolicies()
	before.of(manifest, []string{"helper"}, main).policy.Add(permissions.Session, allowed("make *"), allowed("go *"))
	stored := before.answers()
	if len(stored) != 1 || len(stored[0].Rules) != 2 {
		t.Fatalf("stored: %+v", stored)
	}
	after := func() *agentPolicies {
		a := newAgentPolicies()
		a.expect(stored)
		return a
	}
	if list := patterns(after().of(manifest, []string{"helper"}, main)); !slices.Equal(list, []string{"make *", "go *"}) {
		t.Errorf("it has the answers %q", list)
	}
	other := manifest
	other.Description = "Does something else."
	if list := patterns(after().of(other, []string{"helper"}, main)); len(list) != 0 {
		t.Errorf("another manifest has the answers %q", list)
	}
	a := after()
	if !a.forgetExpected([]string{"helper"}, allowed("make *")) || a.forgetExpected([]string{"helper"}, allowed("make *")) {
		t.Error("an answer that waits is not forgotten once")
	}
	if list := patterns(a.of(manifest, []string{"helper"}, main)); !slices.Equal(list, []string{"go *"}) {
		t.Errorf("after one was revoked it has the answers %q", list)
	}
	if waiting := a.expectedAnswers(); len(waiting) != 0 {
		t.Errorf("answers still wait: %+v", waiting)
	}
	if len(stored[0].Rules) != 2 {
		t.Error("what was stored has changed")
	}
}
