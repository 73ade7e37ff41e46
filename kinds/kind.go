package kinds

import "slices"

// Kind is an ACP tool kind: the icon and layout an editor picks for a call.
type Kind string

// The kinds of ACP v1; the set is closed.
const (
	Read       Kind = "read"
	Edit       Kind = "edit"
	Delete     Kind = "delete"
	Move       Kind = "move"
	Search     Kind = "search"
	Execute    Kind = "execute"
	Think      Kind = "think"
	Fetch      Kind = "fetch"
	SwitchMode Kind = "switch_mode"
	Other      Kind = "other"
)

// All lists every kind in the order of the protocol's schema.
func All() []Kind {
	return []Kind{Read, Edit, Delete, Move, Search, Execute, Think, Fetch, SwitchMode, Other}
}

// Valid reports whether k is one of the closed set.
func (k Kind) Valid() bool { return slices.Contains(All(), k) }
