package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// ModePolicy is what the mode of a session says about tools and their calls (R10, R157). The
// offered tools follow it at the next model request; its refusals apply at once.
type ModePolicy struct {
	// Mode names it, for messages, watchdogs and the audit.
	Mode string
	// Gate says which tools there are.
	Gate tools.Gate
	// Always are ids of tools that need not be looked for in this mode.
	Always []string
	// ReadOnly refuses every call that changes anything, whatever rules allow,
	// but for the files in Writable, which are absolute; commands run only when
	// they plainly only read.
	ReadOnly bool
	Writable []string
	// Hint says what an agent can do about such a refusal; empty says nothing.
	Hint string
}

// modePolicy returns a copy of the policy in force now; a subagent without one uses that of its
// parent. nil means that there is none.
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

// mode names the mode that the session is in now; "" means that it has none.
func (p *Pipeline) mode() string {
	if s := p.modePolicy(); s != nil {
		return s.Mode
	}
	return ""
}

// readOnly returns the policy that refuses changes; nil means that changes may be made. That is the
// current policy, or the policy of the request that the model is answering: what the model was told
// holds until the next request. A refusal also binds the agents below this one.
func (p *Pipeline) readOnly() *ModePolicy {
	for _, s := range p.modePolicies() {
		if s != nil && s.ReadOnly {
			return s
		}
	}
	return nil
}

// keepsOut returns the policy that keeps a tool out, if there is one.
func (p *Pipeline) keepsOut(entry *tools.Entry) *ModePolicy {
	for i, s := range p.modePolicies() {
		if i > 0 && s.refuse(entry) != "" { // its own counts from the next request on
			return s
		}
	}
	return nil
}

// modePolicies are the policies that bound a call: that of now and that of the last request, then
// those of now of the agents above, without what those could do about a refusal.
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

// refuse says why a tool is not there; "" means that it is.
func (m *ModePolicy) refuse(entry *tools.Entry) string {
	if m == nil {
		return ""
	}
	return m.Gate.Refuse(&entry.Spec)
}

// absent returns the error of a call of a tool that the mode keeps out.
func (m *ModePolicy) absent(entry *tools.Entry) error {
	absent := &tools.Error{Kind: tools.Denied, DeniedBy: tools.DeniedByMode, Message: fmt.Sprintf("mode %s: %s", m.Mode, m.refuse(entry))}
	if m.ReadOnly {
		absent.Hint = m.Hint
	}
	return absent
}

// lists reports whether the mode lists a tool that otherwise has to be looked for.
func (m *ModePolicy) lists(entry *tools.Entry) bool {
	return m != nil && slices.Contains(m.Always, entry.ID) && m.refuse(entry) == ""
}

// writable are the patterns of the files that may be written.
func (m *ModePolicy) writable() []string {
	patterns := make([]string, len(m.Writable))
	for i, path := range m.Writable {
		patterns[i] = capability.EscapeGlob(filepath.ToSlash(path))
	}
	return patterns
}

// refuseInReadOnlyMode refuses, in a mode that changes nothing, a command that does not
// plainly only read. It is part of the capability check, which has refused writing
// before (see effective): no rule lifts it.
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

func (m *ModePolicy) refusal(what string) error {
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByMode,
		Message: fmt.Sprintf("the session is in mode %s, in which nothing is changed: %s", m.Mode, what),
		Hint:    m.Hint,
	}
}
