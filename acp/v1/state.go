package v1

import (
	"encoding/json"
	"sync/atomic"

	"acp-agent/acp/schema"
	"acp-agent/session"
	"acp-agent/transcript"
)

// stateKind is a part of the state of a session, whichever of its agents changed it. Its
// update carries the whole value, so only the last one matters.
type stateKind int

// The kinds of state, in the order in which they are sent when several have changed.
const (
	sandboxState stateKind = iota
	modeState
	optionsState
	commandsState
	titleState
	planState
	stateKinds
)

// sessionView is what the state of a session is read from. Its methods do not block.
type sessionView interface {
	Mode() string
	Commands() []session.Command
	configOptions() []schema.SessionConfigOption
	// metaSandbox is the _meta that says how processes are confined.
	metaSandbox() map[string]any
	// ended reports whether the session has ended.
	ended() bool
}

// state sends the state of a session when it differs from what the client has. The
// translator's lock guards it.
type state struct {
	out     *outbox
	session sessionView // set before the first event that changes state
	known   [stateKinds]string
	held    [stateKinds]bool // changed in a quiet period, not sent yet
	title   transcript.TitleChanged
	plan    transcript.PlanChanged
	// optionRequests counts the requests to set an option that are not answered.
	optionRequests atomic.Int64
}

// emit handles the events of the session as a whole, whichever agent emits them.
func (s *state) emit(e transcript.Event) {
	switch e.(type) {
	case transcript.ModeChanged, transcript.OptionsChanged: // the mode is one of the options
		s.changed(modeState, optionsState)
	case transcript.CommandsChanged:
		s.changed(commandsState)
	case transcript.SandboxFound:
		s.changed(sandboxState)
	}
}

// changed sends the kinds of state that may have changed, each if its encoded value differs
// from the one that the client has. In a quiet period they wait for its end.
func (s *state) changed(changed ...stateKind) {
	if s.session != nil && s.session.ended() {
		return
	}
	for _, kind := range changed {
		if kind == optionsState && s.optionRequests.Load() > 0 {
			continue // optionAnswered sends them
		}
		update := s.current(kind)
		value := encoded(update)
		differs := value != s.known[kind]
		s.held[kind] = differs && s.out.quiet.active()
		switch {
		case s.held[kind]:
			s.scheduleHeld()
		case differs:
			s.known[kind] = value
			s.out.send(update)
		}
	}
}

// current is the update with the present value of a kind of state. The value is read here
// and not taken from an event: two changes in a row may arrive in either order, and the last
// update must be right.
func (s *state) current(kind stateKind) schema.SessionUpdate {
	switch kind {
	case sandboxState:
		return schema.SessionInfoUpdate{Meta: s.session.metaSandbox()}
	case modeState:
		return modeUpdate(s.session.Mode())
	case optionsState:
		return optionsUpdate(s.session.configOptions())
	case commandsState:
		return commandsUpdate(s.session.Commands())
	case planState:
		return planUpdate(s.plan)
	}
	return titleUpdate(s.title)
}

// stateKindOf is the kind of state that an update carries.
func stateKindOf(update schema.SessionUpdate) stateKind {
	switch update := update.(type) {
	case schema.CurrentModeUpdate:
		return modeState
	case schema.ConfigOptionUpdate:
		return optionsState
	case schema.AvailableCommandsUpdate:
		return commandsState
	case schema.Plan:
		return planState
	case schema.SessionInfoUpdate:
		if update.Meta != nil {
			return sandboxState
		}
	}
	return titleState
}

// sendHeld sends the state that a quiet period held back. The period is over.
func (s *state) sendHeld() {
	for kind := range stateKinds {
		if s.held[kind] {
			s.changed(kind)
		}
	}
}

// anyHeld reports whether a quiet period holds something back.
func (s *state) anyHeld() bool { return s.held != [stateKinds]bool{} }

// scheduleHeld sets the timer to the end of the quiet period if something waits for it. While
// the answer is not written, the end is not known; quietAnswerWritten comes here then.
func (s *state) scheduleHeld() {
	if s.out.quiet.unsent == 0 && s.anyHeld() {
		s.out.schedule(s.out.quiet.until.Sub(s.out.now()))
	}
}

// noteKnown notes that the client has the state that an update carries, and reports whether
// it differs from what the client had.
func (s *state) noteKnown(update schema.SessionUpdate) (differs bool) {
	kind, value := stateKindOf(update), encoded(update)
	differs = s.known[kind] != value
	s.known[kind], s.held[kind] = value, false
	return differs
}

// sendRequested sends state that a request of the client has just changed. It belongs to what
// the client asked for, so no quiet period holds it back.
func (t *translator) sendRequested(changed ...stateKind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, kind := range changed {
		if update := t.state.current(kind); t.state.noteKnown(update) {
			t.out.send(update)
		}
	}
}

// noteAnswer notes the state that the answer to a request carries, before it is sent.
func (t *translator) noteAnswer(updates ...schema.SessionUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, update := range updates {
		t.state.noteKnown(update)
	}
}

// optionRequested is called on the read loop, before an option is set. Until optionAnswered
// only the answer carries the options.
func (t *translator) optionRequested() { t.state.optionRequests.Add(1) }

// optionAnswered is called when that answer, which carries the updates, stands in the output.
// It sends what has changed since the answer was made.
func (t *translator) optionAnswered(updates ...schema.SessionUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.optionRequests.Add(-1)
	for _, update := range updates {
		t.state.noteKnown(update)
	}
	t.state.changed(modeState, optionsState)
}

// encoded is an update as it is sent; updates with the same text say the same.
func encoded(update schema.SessionUpdate) string {
	text, err := json.Marshal(update)
	if err != nil {
		return "" // Notify reports the error
	}
	return string(text)
}

func commandsUpdate(commands []session.Command) schema.SessionUpdate {
	update := schema.AvailableCommandsUpdate{}
	for _, c := range commands {
		command := schema.AvailableCommand{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			command.Input = &schema.UnstructuredCommandInput{Hint: c.Hint}
		}
		update.AvailableCommands = append(update.AvailableCommands, command)
	}
	return update
}
