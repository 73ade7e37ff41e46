package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// ModePolicy is what the mode of a session says about tools and calls (R10, R157). The list of tools follows
// it at the next model request; its refusals apply at once.
type ModePolicy struct {
	// Mode names it, for messages, watchdogs and the audit.
	Mode string
	// Gate says which tools are present.
	Gate tools.Gate
	// Always are the ids of tools that are listed in this mode even if they are deferred.
	Always []string
	// ReadOnly refuses every call that changes anything, whatever the rules allow. Commands run
	// only when they only read.
	ReadOnly bool
	// Writable are the absolute paths of files that may be written although ReadOnly is set.
	Writable []string
	// Hint tells the agent what it can do about such a refusal.
	Hint string
}

// modePolicy returns a copy of the current policy; nil means that there is none. A subagent without one
// uses that of its parent.
func (p *Pipeline) modePolicy() *ModePolicy { return p.policyOf(Session.ModePolicy) }

// requestPolicy is modePolicy for the next request to the model.
func (p *Pipeline) requestPolicy() *ModePolicy { return p.policyOf(Session.RequestPolicy) }

func (p *Pipeline) policyOf(of func(Session) *ModePolicy) *ModePolicy {
	if now := of(p.Session); now != nil {
		policy := *now
		return &policy
	}
	if p.Parent != nil {
		return p.Parent.policyOf(of)
	}
	return nil
}

// mode returns the name of the session's current mode; "" means that it has none.
func (p *Pipeline) mode() string {
	if policy := p.modePolicy(); policy != nil {
		return policy.Mode
	}
	return ""
}

// readOnly returns the policy that refuses changes; nil means that changes are allowed. It is the current
// policy, or the one of the request that the model is answering, which holds until the next request. A
// refusal also binds the agents below this one.
func (p *Pipeline) readOnly() *ModePolicy {
	for _, policy := range p.modePolicies() {
		if policy != nil && policy.ReadOnly {
			return policy
		}
	}
	return nil
}

// keepsOut returns the policy that refuses a tool; nil when there is none.
func (p *Pipeline) keepsOut(entry *tools.Entry) *ModePolicy {
	for _, policy := range p.modePolicies()[1:] { // not the current one, whose list of tools counts from the next request on
		if policy.refuse(entry) != "" {
			return policy
		}
	}
	return nil
}

// modePolicies returns the policies that bound a call: the current one, the one of the last request, and the
// current ones of the agents above, with this agent's hint.
func (p *Pipeline) modePolicies() []*ModePolicy {
	own := p.modePolicy()
	list := []*ModePolicy{own, p.catalogue.lastPolicy()}
	for q := p.Parent; q != nil; q = q.Parent {
		above := q.modePolicy()
		if own != nil && above != nil {
			above.Hint = own.Hint
		}
		list = append(list, above)
	}
	return list
}

// refuse returns why a tool is absent; "" means that it is present.
func (m *ModePolicy) refuse(entry *tools.Entry) string {
	if m == nil {
		return ""
	}
	return m.Gate.Refuse(&entry.Spec)
}

// absent returns the error of a call of a tool that the mode refuses.
func (m *ModePolicy) absent(entry *tools.Entry) error {
	absent := &tools.Error{Kind: tools.Denied, DeniedBy: tools.DeniedByMode, Message: fmt.Sprintf("mode %s: %s", m.Mode, m.refuse(entry))}
	if m.ReadOnly {
		absent.Hint = m.Hint
	}
	return absent
}

// lists reports whether the mode lists a tool that is otherwise deferred.
func (m *ModePolicy) lists(entry *tools.Entry) bool {
	return m != nil && slices.Contains(m.Always, entry.ID) && m.refuse(entry) == ""
}

// writable returns the patterns of the files that may be written.
func (m *ModePolicy) writable() []string {
	patterns := make([]string, len(m.Writable))
	for i, path := range m.Writable {
		patterns[i] = capability.EscapeGlob(filepath.ToSlash(path))
	}
	return patterns
}

// refuseInReadOnlyMode refuses a command that does more than read, in a mode that changes nothing. No
// rule can allow it. The capability check has refused writing before, see effective.
func (j *judgement) refuseInReadOnlyMode() error {
	policy := j.pipeline.readOnly()
	if policy == nil {
		return nil
	}
	commands := false
	for _, resource := range j.judged.Resources {
		commands = commands || resource.Kind == permissions.Command
		if resource.Judged != nil && resource.Judged.Action != capability.Allow {
			return policy.refusal("only commands that plainly only read run: " + resource.Judged.Reason)
		}
	}
	if !commands && slices.Contains(j.judged.Capabilities, capability.CapShellRun) {
		return policy.refusal(j.Tool + " does not run, for what it starts cannot be judged")
	}
	return nil
}

// refusal returns the error of a call that would change something.
func (m *ModePolicy) refusal(what string) error {
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByMode,
		Message: fmt.Sprintf("the session is in mode %s, in which nothing is changed: %s", m.Mode, what),
		Hint:    m.Hint,
	}
}
