package acptest

import (
	"slices"
	"strings"
	"time"
)

// facts is what the client knows of a session itself.
type facts struct {
	// told is, by the kind of update that carries it, the value that the client has.
	told map[string]string
	// quietFrom is when a prompt was answered with cancelled, if no other was sent since; zero when the
	// session need not be quiet.
	quietFrom time.Time
}

// quietAtLeast is how long after an answer with cancelled nothing of the session itself may
// arrive. The rule is 2 s. This reader may come late to the answer when the machine is busy,
// and then sees less.
const quietAtLeast = time.Second

// sandboxTold is the kind of update that carries how processes are confined.
const sandboxTold = "session_info_update _meta"

// valueOf is the member of an update that carries a fact; empty of the other kinds.
var valueOf = map[string]string{
	"available_commands_update": "availableCommands", "config_option_update": "configOptions", "current_mode_update": "currentModeId",
	"plan": "entries", "session_info_update": "title", sandboxTold: "_meta",
}

// note keeps a value that the client was told, and reports whether it was told the same before.
func (f *facts) note(kind string, value any) (again bool) {
	text := string(encode(value))
	again = f.told[kind] == text
	f.told[kind] = text
	return again
}

// prompted is called at a prompt: the session need not be quiet any more, and a plan may be sent
// again, for clients put the old one away.
func (f *facts) prompted() {
	f.quietFrom = time.Time{}
	delete(f.told, "plan")
}

// fact judges an update that tells of the session itself: it tells something new, and does
// not come soon after an answer with cancelled, unless the client has asked for the change.
func (c *checker) fact(session string, s *sessionState, kind string, members map[string]any) {
	name := kind
	if name == "session_info_update" && members["_meta"] != nil {
		name = sandboxTold
	}
	member := valueOf[name]
	if member == "" {
		return
	}
	if s.facts.note(name, members[member]) {
		c.problem("%s tells nothing new: %s", kind, encode(members))
	}
	if quiet := s.facts.quietFrom; s.turns <= 0 && !quiet.IsZero() && c.at.Sub(quiet) < quietAtLeast && !c.setting(session) {
		c.problem("%s came %s after an answer with cancelled", kind, c.at.Sub(quiet))
	}
}

// setting reports whether a request of the client's is open that changes a mode or an option.
func (c *checker) setting(session string) bool {
	for _, asked := range c.open {
		if slices.ContainsFunc(asked, func(m *Message) bool {
			return strings.HasPrefix(m.Method, "session/set_") && m.Session() == session
		}) {
			return true
		}
	}
	return false
}
