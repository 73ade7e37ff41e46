package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/model"
	"acp-agent/transcript"
)

// models are the model of a session with its thought level, and the models that it could use instead.
// More about each is in the catalogue of the [Host] (model_catalogue.go). They are safe for concurrent use, and
// call nothing else with the lock held.
type models struct {
	modelOptions

	mu      sync.Mutex // guards what follows
	backend Backend    // the server that the session used last
	current string
	thought string
	// announced has the models about which the client is notified when the server has answered.
	announced map[string]*modelKnowledge
	// admitted is a model that was named besides the server's list.
	admitted string
}

// modelOptions are what models are made of.
type modelOptions struct {
	life      *lifetime
	catalogue *modelCatalogue
	// emit passes an event on to the client.
	emit func(transcript.Event)
	// warn tells the user once, by its text, what the server cannot do well.
	warn func(text string)
}

// newModels returns the models of a session that starts with the one of the backend.
func newModels(o modelOptions, backend Backend) *models {
	return &models{
		modelOptions: o, backend: backend, current: backend.Model, thought: backend.ThoughtLevel, announced: map[string]*modelKnowledge{},
	}
}

// get returns the model and its thought level.
func (m *models) get() (id, thought string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current, m.thought
}

// server is the server that the session used last. Host.Backend may block; server does not.
func (m *models) server() Backend {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.backend
}

func (m *models) setServer(backend Backend) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.backend = backend
}

// restore sets the stored model of a resumed session, unless the server cannot use it any more.
func (m *models) restore(id, thought string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != "" && m.backend.usable(id) == nil {
		m.current, m.thought = id, thought
	}
}

// set chooses a model without a check.
func (m *models) set(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current = id
}

// choose chooses a model that is offered.
func (m *models) choose(id string) {
	levels := m.server().Provider.Describe(m.life.ctx, id).ThoughtLevels
	m.mu.Lock()
	m.current = id
	if !slices.Contains(levels, m.thought) {
		m.thought = "" // the new model does not know this level
	}
	m.mu.Unlock()
	m.learn(id)
}

// whyNot says why a model is not offered; "" when it can be tried.
func (m *models) whyNot(id string) string {
	if err := m.server().usable(id); err != nil {
		return err.Error()
	}
	return ""
}

func (m *models) setThought(level string) {
	if level == defaultThought {
		level = ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.thought = level
}

// admit makes a model selectable that the server may not list.
func (m *models) admit(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.admitted = id
}

// options are the options of the model and, if the model has levels, of its thought level.
func (m *models) options() []Option {
	current, thought := m.get()
	backend := m.server()
	pick := Option{ID: ModelOption, Name: "Model", Category: "model", Current: current, Description: "The model that answers."}
	for _, info := range m.list(backend, current) {
		pick.Values = append(pick.Values, modelValue(info))
	}
	if levels := backend.Provider.Describe(m.life.ctx, current).ThoughtLevels; len(levels) > 0 {
		return []Option{pick, thoughtOption(levels, thought)}
	}
	return []Option{pick}
}

// list lists the configured model, the chosen one, and the models that the server has listed so far.
func (m *models) list(backend Backend, chosen string) []model.Info {
	grouped := func(id string) model.Info {
		return model.Info{ID: id, Group: backend.Provider.Describe(m.life.ctx, id).Group}
	}
	list := []model.Info{grouped(backend.Model)}
	m.mu.Lock()
	admitted := m.admitted
	m.mu.Unlock()
	for _, id := range []string{chosen, admitted} {
		if id != "" && !slices.ContainsFunc(list, func(have model.Info) bool { return have.ID == id }) {
			list = append(list, grouped(id))
		}
	}
	for _, info := range m.catalogue.list(backend.Provider) {
		known := slices.IndexFunc(list, func(have model.Info) bool { return have.ID == info.ID })
		if known >= 0 {
			list[known] = info
			continue
		}
		list = append(list, info)
	}
	return list
}

// learn asks the catalogue about a model, and notifies the client when the server has answered.
func (m *models) learn(id string) *modelKnowledge {
	k := m.catalogue.learn(m.server().Provider, id)
	m.mu.Lock()
	known := m.announced[id] == k
	m.announced[id] = k
	m.mu.Unlock()
	if known {
		return k
	}
	m.life.start(func() {
		select {
		case <-k.done:
		case <-m.life.ctx.Done():
			return
		}
		m.emit(transcript.OptionsChanged{})
		for _, warning := range k.warnings {
			m.warn(warning)
		}
	})
	return k
}

// awaitWindow waits for the server to say how large a model's window is, if that is not known, for at
// most surveyTime.
func (m *models) awaitWindow(ctx context.Context, model string, window func() int) {
	if window() != 0 {
		return
	}
	limit := time.NewTimer(surveyTime)
	defer limit.Stop()
	select {
	case <-m.learn(model).done:
	case <-limit.C:
	case <-ctx.Done():
	}
}
