package capability

import "fmt"

// Action is what a rule or a judge answers. The zero value is Ask, so a value that
// no one set is never an allow (R114).
type Action uint8

// The three actions of R114.
const (
	Ask Action = iota
	Allow
	Deny
)

// String returns the name that rules files use: "allow", "deny" or "ask".
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Deny:
		return "deny"
	default:
		return "ask"
	}
}

// MarshalText implements encoding.TextMarshaler with the name of the action.
func (a Action) MarshalText() ([]byte, error) {
	return []byte(a.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. Any other text than the three
// names is an error, so a misspelt "alow" cannot pass for something.
func (a *Action) UnmarshalText(text []byte) error {
	switch string(text) {
	case "allow":
		*a = Allow
	case "deny":
		*a = Deny
	case "ask":
		*a = Ask
	default:
		return fmt.Errorf("action %q: must be allow, deny or ask", text)
	}
	return nil
}

// Stricter reports whether a leaves less room than b: deny before ask before allow (R116).
func (a Action) Stricter(b Action) bool {
	return a.rank() > b.rank()
}

func (a Action) rank() int {
	switch a {
	case Allow:
		return 0
	case Deny:
		return 2
	default:
		return 1
	}
}
