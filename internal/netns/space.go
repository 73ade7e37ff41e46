package netns

// HoldArg is the first argument that makes our binary hold a namespace, see Hold.
const HoldArg = "__netns"

// request is what the agent asks of a holder, one line of JSON.
type request struct {
	// Dial is a port inside to connect to; 0 asks for a listener.
	Dial int `json:"dial,omitempty"`
}

// answer is one line of JSON, with a descriptor beside it unless there is an error.
type answer struct {
	Error string `json:"error,omitempty"`
	// Refused says that nothing listens on the port.
	Refused bool `json:"refused,omitempty"`
}
