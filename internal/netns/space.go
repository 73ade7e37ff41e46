package netns

// HoldArg is the first argument with which the agent's binary holds a namespace, see Hold.
const HoldArg = "__netns"

// Listener is a TCP socket that listens.
type Listener struct {
	Inode uint64
	Port  int
}

// maxListeners bounds the list of the listeners of a network.
const maxListeners = 4000

// request asks the holder for one descriptor. On the socket it is one message of JSON.
type request struct {
	Open descriptorKind `json:"open"`
}

// descriptorKind says what a descriptor of the holder's is. All are made inside.
type descriptorKind string

const (
	listener    descriptorKind = "listener"    // accepts connections to a free port of the loopback address
	socketIPv4  descriptorKind = "socket4"     // not connected yet
	socketIPv6  descriptorKind = "socket6"     // not connected yet
	socketTable descriptorKind = "socketTable" // lists the sockets inside, see openTable
)

// answer is the holder's answer, one message of JSON. The descriptor travels with the message, unless
// there is an error.
type answer struct {
	// PID is the process inside, which answers.
	PID   int    `json:"pid,omitempty"`
	Error string `json:"error,omitempty"`
}
