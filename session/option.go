package session

import (
	"fmt"
	"slices"

	"acp-agent/model"
	"acp-agent/permissions"
	"acp-agent/sandbox"
)

// choice is what the person picked for a session.
type choice struct {
	mode permissions.Mode
	// before is the mode that plan mode was entered from; empty when it was the
	// first.
	before  permissions.Mode
	model   string
	thought string
}

// Option is a setting of a session that the person may change (ACP, session
// config options). The order of options is their priority.
type Option struct {
	ID, Name, Description string
	// Category is mode, model or thought_level.
	Category string
	Current  string
	Values   []Value
}

// Value is one choice of an Option. Group is the heading under which it stands; empty
// means none.
type Value struct {
	ID, Name, Description, Group string
}

// The ids of the options.
const (
	ModeOption    = "mode"
	ModelOption   = "model"
	ThoughtOption = "thought_level"
)

// BadValueError is a mode, option or value that does not exist, or not here.
type BadValueError struct {
	What, Got string
	Legal     []string
	// Why says why a value that exists cannot be chosen; empty when it does not
	// exist.
	Why string
}

// Error names the legal values.
func (e *BadValueError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%s %q is not available: %s; it must be one of %q", e.What, e.Got, e.Why, e.Legal)
	}
	return fmt.Sprintf("unknown %s %q; it must be one of %q", e.What, e.Got, e.Legal)
}

// lastBackend is the server that the session last used. It is kept so that
// nothing that must not block has to ask for it.
func (s *Session) lastBackend() Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.backend
}

func (s *Session) chosen() choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choice
}

// Sandbox says how the session's processes are confined, once that is known.
func (s *Session) Sandbox() (report sandbox.Report, known bool) { return s.host.Sandbox.Known() }

// Options lists the settings with their current values.
func (s *Session) Options() []Option {
	chosen := s.chosen()
	mode := Option{ID: ModeOption, Name: "Mode", Category: "mode", Current: string(chosen.mode), Description: "How much the agent may do without asking."}
	for _, m := range s.Modes() {
		mode.Values = append(mode.Values, Value{ID: m.ID, Name: m.Name, Description: m.Description})
	}
	options := []Option{mode}
	backend := s.lastBackend()
	pick := Option{ID: ModelOption, Name: "Model", Category: "model", Current: chosen.model, Description: "The model that answers."}
	for _, info := range s.models(backend, chosen.model) {
		pick.Values = append(pick.Values, modelValue(info))
	}
	options = append(options, pick)
	if levels := backend.Provider.Describe(s.life.ctx, chosen.model).ThoughtLevels; len(levels) > 0 {
		options = append(options, thoughtOption(levels, chosen.thought))
	}
	return options
}

// defaultThought is the value that leaves the effort to the server.
const defaultThought = "default"

func thoughtOption(levels []string, current string) Option {
	if !slices.Contains(levels, current) {
		current = defaultThought
	}
	o := Option{
		ID: ThoughtOption, Name: "Thinking", Category: "thought_level", Current: current,
		Description: "How long the model may think before it answers.",
		Values:      []Value{{ID: defaultThought, Name: "Default"}},
	}
	for _, level := range levels {
		o.Values = append(o.Values, Value{ID: level, Name: level})
	}
	return o
}

// models lists the configured model, the chosen one, and what the server
// offers as far as it is known.
func (s *Session) models(backend Backend, chosen string) []model.Info {
	grouped := func(id string) model.Info {
		return model.Info{ID: id, Group: backend.Provider.Describe(s.life.ctx, id).Group}
	}
	list := []model.Info{grouped(backend.Model)}
	s.mu.Lock()
	admitted := s.admitted
	s.mu.Unlock()
	for _, id := range []string{chosen, admitted} {
		if id != "" && !slices.ContainsFunc(list, func(have model.Info) bool { return have.ID == id }) {
			list = append(list, grouped(id))
		}
	}
	for _, info := range s.host.library.list(backend.Provider) {
		known := slices.IndexFunc(list, func(have model.Info) bool { return have.ID == info.ID })
		if known >= 0 {
			list[known] = info
			continue
		}
		list = append(list, info)
	}
	return list
}

// modelValue is a model as a choice. Among several servers its name is the whole id, for
// an editor may show the current one without its heading.
func modelValue(info model.Info) Value {
	if info.Group == "" {
		return Value{ID: info.ID, Name: nameOf(info)}
	}
	return Value{ID: info.ID, Name: info.ID, Description: info.Name, Group: info.Group}
}

func nameOf(info model.Info) string {
	if info.Name != "" {
		return info.Name
	}
	return info.ID
}

// AdmitModel makes a model selectable that the server may not list.
func (s *Session) AdmitModel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted = id
}

// SetOption changes one setting. It neither blocks nor emits anything: the
// caller announces the change where it is in order, once Decide has returned.
func (s *Session) SetOption(id, value string) error {
	if s.choosesAuto(id, value) {
		return nil
	}
	options := s.Options()
	at := slices.IndexFunc(options, func(o Option) bool { return o.ID == id })
	if at < 0 {
		return &BadValueError{What: "config option", Got: id, Legal: optionIDs(options)}
	}
	legal := make([]string, len(options[at].Values))
	for i, v := range options[at].Values {
		legal[i] = v.ID
	}
	if !slices.Contains(legal, value) {
		return &BadValueError{What: options[at].Name, Got: value, Legal: legal, Why: s.whyNot(id, value)}
	}
	if id == ModeOption {
		s.switchMode(permissions.Mode(value))
		return nil
	}
	s.mu.Lock()
	switch id {
	case ModelOption:
		s.choice.model = value
		levels := s.backend.Provider.Describe(s.life.ctx, value).ThoughtLevels
		if !slices.Contains(levels, s.choice.thought) {
			s.choice.thought = "" // the new model does not know this level
		}
	case ThoughtOption:
		if value == defaultThought {
			value = ""
		}
		s.choice.thought = value
	}
	s.mu.Unlock()
	if id == ModelOption {
		s.learn(value)
	}
	return nil
}

func optionIDs(options []Option) []string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = o.ID
	}
	return ids
}
