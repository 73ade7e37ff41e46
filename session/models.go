package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/model"
	"acp-agent/transcript"
)

// models are the model of a session, how long it may think, and the others that there are. What is
// learned of them is in the host's catalogue (model_catalogue.go). They are safe for concurrent use,
// and call nothing else with the lock held.
type models struct {
	modelOptions

	mu      sync.Mutex // guards what follows
	backend Backend    // the one that was used last
	current string
	thought string
	// announced are the models whose knowledge the client is told of.
	announced map[string]*modelKnowledge
	// admitted is a model that was named besides the server's list.
	admitted string
}

// modelOptions are what models are made of.
type modelOptions struct {
	life      *lifetime
	catalogue *modelCatalogue
	// emit passes an event on to the client.
	emit    func(transcript.Event)
	notices *notices
}

// newModels returns the models of a session that starts with the one of the backend.
func newModels(o modelOptions, backend Backend) *models {
	return &models{
		modelOptions: o, backend: backend, current: backend.Model, thought: backend.ThoughtLevel, announced: map[string]*modelKnowledge{},
	}
}

// get returns the model, and how long it may think.
func (m *models) get() (id, thought string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current, m.thought
}

// server is the server that the session last used. It is kept so that nothing that must not block
// has to ask for it.
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

// restore takes over the model of a session that goes on, unless the server cannot use it any more.
func (m *models) restore(id, thought string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != "" && m.backend.usable(id) == nil {
		m.current, m.thought = id, thought
	}
}

// set chooses a model without looking whether it is offered.
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

// options are the options of the model, and of how long it may think where it can.
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

// list lists the configured model, the chosen one, and what the server offers as far as it is known.
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

// learn has the catalogue learn of a model, and tells the client when more is known.
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
			m.notices.once(warning, transcript.Notice{Severity: transcript.Warning, Title: "Model server", Text: warning})
		}
	})
	return k
}

// awaitWindow waits, for at most surveyTime, until the server has answered what the window of
// a model is that is not known otherwise.
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
