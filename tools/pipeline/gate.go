package pipeline

import "acp-agent/tools"

// WhyAbsent says why a tool is absent: it is switched off (R9), the agent that delegated to
// this one does not have it (R64), it could only fail in this session (R9), or the agent or
// the mode keeps it out (R10). "" means that it is present.
func (p *Pipeline) WhyAbsent(entry *tools.Entry) string {
	if reason := p.off(entry); reason != "" {
		return reason
	}
	if reason := p.lacking(entry); reason != "" {
		return reason
	}
	return p.catalogue.lastPolicy().refuse(entry)
}

// off says why the tool is absent in every mode; "" when it is not.
func (p *Pipeline) off(entry *tools.Entry) string {
	if reason, off := p.Session.Disabled(entry.ID); off {
		return reason
	}
	if reason := p.Gate.Refuse(&entry.Spec); reason != "" || p.Parent == nil {
		return reason
	}
	if _, has := p.Parent.Tools().Get(entry.ID); !has || p.Parent.off(entry) != "" {
		return "the delegating agent does not have it"
	}
	return ""
}

func (p *Pipeline) gate(c *Prepared) error {
	if reason := p.off(c.entry); reason != "" {
		return &tools.Error{Kind: tools.Denied, Message: reason, DeniedBy: tools.DeniedByEnablement}
	}
	if policy := p.keepsOut(c.entry); policy != nil {
		return policy.absent(c.entry)
	}
	return nil
}

// lacking says why a tool could only fail in this session. Such a tool is not offered; a
// call of it is answered by the tool itself.
func (p *Pipeline) lacking(entry *tools.Entry) string {
	if entry.Lacks == nil {
		return ""
	}
	return entry.Lacks(p.Services)
}
