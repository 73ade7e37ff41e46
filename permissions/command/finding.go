package command

import (
	"cmp"

	"acp-agent/capability"
)

// finding is a verdict on a word, an option, a command or a text. The zero value is no finding.
type finding struct {
	action     capability.Action
	class      Class
	reason     string
	validation bool
	// notSandboxable says why no sandbox makes the part harmless, see Part.Sandboxable. Empty: one does.
	notSandboxable string
	// notReadOnly says why even a read-only sandbox does not make the part harmless. Empty: it does.
	notReadOnly string
	set         bool // false for the zero value
}

// orNotSandboxable returns the finding with why as the reason against every sandbox, unless it
// already has one. An empty why changes nothing.
func (f finding) orNotSandboxable(why string) finding {
	f.notSandboxable = cmp.Or(f.notSandboxable, why)
	return f.orNotReadOnly(why)
}

// orNotReadOnly returns the finding with why as the reason against a read-only sandbox, unless it
// already has one. An empty why changes nothing.
func (f finding) orNotReadOnly(why string) finding {
	f.notReadOnly = cmp.Or(f.notReadOnly, why)
	return f
}

func allowed() finding {
	return finding{action: capability.Allow, class: ReadOnly, set: true}
}

func asks(class Class, reason string) finding {
	f := finding{action: capability.Ask, class: class, reason: reason, set: true}
	if classNotSandboxable(class) {
		f.notSandboxable = reason
	}
	if classNotReadOnly(class) {
		f.notReadOnly = reason
	}
	return f
}

// asksUnlessReadOnly asks about what a read-only sandbox makes harmless, although its class is not
// one of the harmless ones.
func asksUnlessReadOnly(class Class, reason string) finding {
	f := asks(class, reason)
	f.notReadOnly = ""
	return f
}

func denies(class Class, reason string) finding {
	return finding{action: capability.Deny, class: class, reason: reason, set: true}
}

// asksEachTime asks about one of the findings of R118, which no stored rule lifts.
func asksEachTime(reason string) finding {
	return finding{action: capability.Ask, class: Dangerous, reason: reason, validation: true, notSandboxable: reason, notReadOnly: reason, set: true}
}

// notAllowed reports a finding that asks or denies.
func (f finding) notAllowed() bool { return f.set && f.action != capability.Allow }

// worse returns the stricter of two findings; of two that ask, the one that no rule lifts. The
// result keeps the reasons of both against the sandboxes.
func (f finding) worse(g finding) finding {
	if !g.set {
		return f
	}
	if !f.set {
		return g
	}
	out := f
	if g.action.Stricter(f.action) || g.action == f.action && g.validation && !f.validation {
		out = g
		out.validation = g.validation || f.validation && g.action == capability.Ask
	}
	out.notSandboxable, out.notReadOnly = cmp.Or(f.notSandboxable, g.notSandboxable), cmp.Or(f.notReadOnly, g.notReadOnly)
	return out
}

// firstDeny returns the first deny among the findings.
func firstDeny(findings ...finding) finding {
	for _, f := range findings {
		if f.set && f.action == capability.Deny {
			return f
		}
	}
	return finding{}
}
