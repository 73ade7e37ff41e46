package pipeline

import "acp-agent/tools"

// WhyAbsent returns why a tool is absent: it is switched off (R9), the delegating agent does not have it
// (R64), it could only fail in this session (R9), or the agent or the mode refuses it (R10). ""
// means that it is present.
func (p *Pipeline) WhyAbsent(entry *tools.Entry) string {
	if reason := p.off(entry); reason != "" {
		return reason
	}
	if reason := p.lacking(entry); reason != "" {
		return reason
	}
	return p.catalogue.lastPolicy().refuse(entry)
}

// off returns why a tool is absent in every mode; "" when it is not.
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

// gate refuses a call of a tool that is switched off or absent in the mode.
func (p *Pipeline) gate(c *Prepared) error {
	if reason := p.off(c.entry); reason != "" {
		return &tools.Error{Kind: tools.Denied, Message: reason, DeniedBy: tools.DeniedByEnablement}
	}
	if policy := p.keepsOut(c.entry); policy != nil {
		return policy.absent(c.entry)
	}
	return nil
}

// lacking returns why a tool could only fail in this session; "" when it is usable. Such a tool is not
// listed; when the model calls it nevertheless, the tool itself returns the error.
func (p *Pipeline) lacking(entry *tools.Entry) string {
	if entry.Lacks == nil {
		return ""
	}
	return entry.Lacks(p.Services)
}
