package command

import (
	"cmp"

	"acp-agent/capability"
)

// finding is a verdict on a word, an option, a command or a text. The zero value says nothing.
type finding struct {
	action     capability.Action
	class      Class
	reason     string
	validation bool
	// notSandboxable says what no sandbox can answer for, see Part.Sandboxable; "" means
	// nothing.
	notSandboxable string
	// notReading says why a sandbox in which nothing can be changed is not enough; "" means that it
	// is.
	notReading string
	set        bool // false for a value that says nothing
}

// outOfReach returns the finding with a reason why no sandbox can answer for it.
func (f finding) outOfReach(why string) finding {
	f.notSandboxable = cmp.Or(f.notSandboxable, why)
	return f.notOnlyReading(why)
}

// notOnlyReading returns the finding with a reason why a sandbox in which nothing can be changed is not enough.
func (f finding) notOnlyReading(why string) finding {
	f.notReading = cmp.Or(f.notReading, why)
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
	if classNotReading(class) {
		f.notReading = reason
	}
	return f
}

func denies(class Class, reason string) finding {
	return finding{action: capability.Deny, class: class, reason: reason, set: true}
}

func validates(reason string) finding {
	return finding{action: capability.Ask, class: Dangerous, reason: reason, validation: true, notSandboxable: reason, notReading: reason, set: true}
}

// worse returns the stricter of two findings; of two asks the one that no rule lifts.
// The reasons against the sandboxes are kept, whichever finding is returned.
func (f finding) worse(g finding) finding {
	switch {
	case !g.set:
		return f
	case !f.set:
		return g
	case g.action.Stricter(f.action), g.action == f.action && g.validation && !f.validation:
		g.validation = g.validation || f.validation && g.action == capability.Ask
		g.notSandboxable, g.notReading = cmp.Or(f.notSandboxable, g.notSandboxable), cmp.Or(f.notReading, g.notReading)
		return g
	default:
		f.notSandboxable, f.notReading = cmp.Or(f.notSandboxable, g.notSandboxable), cmp.Or(f.notReading, g.notReading)
		return f
	}
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
