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
	// exposed says what of it no sandbox answers for, see Part.Contained; empty means
	// nothing.
	exposed string
	set     bool
}

func allowed() finding {
	return finding{action: capability.Allow, class: ReadOnly, set: true}
}

func asks(class Class, reason string) finding {
	f := finding{action: capability.Ask, class: class, reason: reason, set: true}
	if exposes(class) {
		f.exposed = reason
	}
	return f
}

func denies(class Class, reason string) finding {
	return finding{action: capability.Deny, class: class, reason: reason, set: true}
}

func validates(reason string) finding {
	return finding{action: capability.Ask, class: Dangerous, reason: reason, validation: true, exposed: reason, set: true}
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
		g.exposed = cmp.Or(f.exposed, g.exposed)
		return g
	default:
		f.exposed = cmp.Or(f.exposed, g.exposed)
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
