package v1

import (
	"encoding/json"

	"acp-agent/acp/schema"
	"acp-agent/session"
)

// fact is something that is true of a session, whichever of its agents changed it. Its
// update carries the whole of it, so only the last value counts.
type fact int

// The facts, in the order in which they are sent when several have changed.
const (
	sandboxFact fact = iota
	modeFact
	optionsFact
	commandsFact
	titleFact
	planFact
	factCount
)

// factOf is the fact that an update carries.
func factOf(update schema.SessionUpdate) fact {
	switch update := update.(type) {
	case schema.CurrentModeUpdate:
		return modeFact
	case schema.ConfigOptionUpdate:
		return optionsFact
	case schema.AvailableCommandsUpdate:
		return commandsFact
	case schema.Plan:
		return planFact
	case schema.SessionInfoUpdate:
		if update.Meta != nil {
			return sandboxFact
		}
	}
	return titleFact
}

// current is the update that carries a fact as it is now. It is read here, not taken from
// an event: two changes in a row may arrive in either order, and the last word must be true.
func (t *translator) current(f fact) schema.SessionUpdate {
	switch f {
	case sandboxFact:
		return schema.SessionInfoUpdate{Meta: t.sandbox()}
	case modeFact:
		return modeUpdate(t.mode())
	case optionsFact:
		return optionsUpdate(t.options())
	case commandsFact:
		return commandsUpdate(t.slashes())
	case planFact:
		return planUpdate(t.plan)
	}
	return titleUpdate(t.title)
}

// state sends facts that may have changed, each if its encoded value differs from the one
// that the client has. In a quiet they wait for its end (see quiet).
func (t *translator) state(facts ...fact) {
	if t.over() {
		return
	}
	for _, f := range facts {
		if f == optionsFact && t.setting.Load() > 0 {
			continue // optionSettled comes back to them
		}
		update := t.current(f)
		value := encoded(update)
		changed := value != t.known[f]
		t.held[f] = changed && t.quiet.holds()
		switch {
		case t.held[f]:
			t.awaitEnd()
		case changed:
			t.known[f] = value
			t.send(update)
		}
	}
}

// release sends the facts that a quiet held back, once it has ended, and in a prompt the
// notices that came before it.
func (t *translator) release() {
	if t.quiet.holds() {
		t.awaitEnd()
		return
	}
	for f := range factCount {
		if t.held[f] {
			t.state(f)
		}
	}
	if t.quiet.prompts.Load() > 0 {
		t.sendLate()
		for _, notice := range t.waiting {
			t.notice(notice)
		}
		t.waiting = nil
	}
}

// requested sends facts that a request of the client has just changed. They are part of
// what it asked for, so no quiet holds them back.
func (t *translator) requested(facts ...fact) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range facts {
		if update := t.current(f); t.learn(update) {
			t.send(update)
		}
	}
}

// learn notes that the client has a fact from this update, and reports whether it is new.
func (t *translator) learn(update schema.SessionUpdate) bool {
	f, value := factOf(update), encoded(update)
	changed := t.known[f] != value
	t.known[f], t.held[f] = value, false
	return changed
}

// answering notes facts that the answer to a request carries, before it is sent.
func (t *translator) answering(updates ...schema.SessionUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, update := range updates {
		t.learn(update)
	}
}

// optionSetting is for the moment before an option is set, on the read loop: until optionSettled
// the options are told by the answer alone.
func (t *translator) optionSetting() { t.setting.Add(1) }

// optionSettled is for the moment in which that answer stands in the output, with what it
// carries. What has changed since it was made is sent now.
func (t *translator) optionSettled(updates ...schema.SessionUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.setting.Add(-1)
	for _, update := range updates {
		t.learn(update)
	}
	t.state(modeFact, optionsFact)
}

// encoded is an update as it goes over the wire; updates with the same text say the same.
func encoded(update schema.SessionUpdate) string {
	text, err := json.Marshal(update)
	if err != nil {
		return "" // Notify says what is wrong with it
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
