package command

import (
	"cmp"

	"acp-agent/capability"
)

// finding is a verdict on something small. The zero value is an allow without a word.
type finding struct {
	action     capability.Action
	class      Class
	reason     string
	validation bool
	// notSandboxable says what of it no sandbox answers for, see Part.Sandboxable; empty means
	// nothing.
	notSandboxable string
	set            bool
}

func allowed() finding {
	return finding{action: capability.Allow, class: ReadOnly, set: true}
}

func asks(class Class, reason string) finding {
	f := finding{action: capability.Ask, class: class, reason: reason, set: true}
	if classNotSandboxable(class) {
		f.notSandboxable = reason
	}
	return f
}

func denies(class Class, reason string) finding {
	return finding{action: capability.Deny, class: class, reason: reason, set: true}
}

func validates(reason string) finding {
	return finding{action: capability.Ask, class: Dangerous, reason: reason, validation: true, notSandboxable: reason, set: true}
}

// worse returns the stricter of two findings; of two asks the one that no rule lifts.
// What no sandbox answers for stays so, whichever of the two is told.
func (f finding) worse(g finding) finding {
	switch {
	case !g.set:
		return f
	case !f.set:
		return g
	case g.action.Stricter(f.action), g.action == f.action && g.validation && !f.validation:
		g.validation = g.validation || f.validation && g.action == capability.Ask
		g.notSandboxable = cmp.Or(f.notSandboxable, g.notSandboxable)
		return g
	default:
		f.notSandboxable = cmp.Or(f.notSandboxable, g.notSandboxable)
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
