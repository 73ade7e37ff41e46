package permissions

import "acp-agent/capability"

// ExactPattern returns the pattern that matches this resource and no other, for
// the rule that "reject always" stores (R123); "" when there is none.
func ExactPattern(r Resource) string {
	switch r.Kind {
	case Path:
		return capability.EscapeGlob(slash(r.Name))
	case Command:
		return escapeText(r.Name)
	case Host:
		return r.Name
	default:
		return ""
	}
}
