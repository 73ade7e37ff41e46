package editor

import (
	"encoding/json"

	"acp-agent/internal/testkit/acptest"
)

// Fits reports whether the client of a run offered nothing that an editor does not, nor what
// the agent leaves alone in an editor that it knows by its name.
func Fits(e Editor, lines []acptest.Line) bool {
	var params any
	if json.Unmarshal([]byte(e.Params()), &params) != nil {
		return false
	}
	for _, l := range lines {
		if l.Message != nil && !l.FromAgent && l.Message.Method == "initialize" {
			// The agent makes no terminals in Acpx, which offers them and shows nothing of them.
			unseenTerminals := e == Acpx && l.Message.Get("clientCapabilities.terminal") == true
			return !unseenTerminals && offersOnly(l.Message.Get("clientCapabilities"), dig(params, "clientCapabilities"))
		}
	}
	return false
}

// offersOnly reports whether all that a value offers stands in another with the same value.
func offersOnly(v, in any) bool {
	members, ok := v.(map[string]any)
	if !ok {
		return v == in || v == nil || v == false
	}
	for name, member := range members {
		if (dig(in, name) == nil && member != false) || !offersOnly(member, dig(in, name)) {
			return false
		}
	}
	return true
}
