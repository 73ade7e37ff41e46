package schema

// SubagentState is what the session of a subagent does, written whole each time.
//
// Unstable: not part of the stable protocol.
type SubagentState struct {
	// State is one of the constants below; more values may come.
	State string `json:"state"`
	// StopReason says why an idle session stopped.
	StopReason string `json:"stopReason,omitempty"`
	// Error is of the stop reason StopError.
	Error *SubagentError `json:"error,omitempty"`
	Meta  map[string]any `json:"_meta,omitempty"`
}

// The states of a subagent's session.
const (
	SubagentRunning        = "running"
	SubagentIdle           = "idle"
	SubagentRequiresAction = "requires_action"
)

// StopError is the stop reason of work that failed, besides those of [StopReason].
const StopError = "error"

// UnmarshalJSON implements json.Unmarshaler.
func (v *SubagentState) UnmarshalJSON(raw []byte) error {
	*v = SubagentState{}
	o := parseObject(raw)
	required(o, "state", &v.State, text[string])
	lenient(o, "stopReason", &v.StopReason, text[string])
	lenient(o, "error", &v.Error, pointer(record[SubagentError]))
	lenient(o, "_meta", &v.Meta, meta)
	return o.err
}

// SubagentError is the JSON-RPC error that ended the work of a subagent.
//
// Unstable: not part of the stable protocol.
type SubagentError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *SubagentError) UnmarshalJSON(raw []byte) error {
	*v = SubagentError{}
	o := parseObject(raw)
	required(o, "code", &v.Code, number[int64])
	required(o, "message", &v.Message, text[string])
	return o.err
}
