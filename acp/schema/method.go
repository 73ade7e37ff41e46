package schema

// Side is an end of a connection.
type Side int

// The sides.
const (
	Agent  Side = iota // serves sessions
	Client             // shows them to a user
	Either
)

// Method is a method of the protocol.
type Method struct {
	Name         string
	Server       Side // who serves it; the other one calls
	Notification bool
}
