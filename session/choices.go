package session

import (
	"cmp"
	"sync"

	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/transcript"
)

// choices are what the user chose for a session: its mode, its model and how long that one
// may think. mode.go and automode.go hold the modes, option.go the list of options that the
// client shows, and models.go what is learned of models. choices are safe for concurrent
// use, and call nothing else with the lock held.
type choices struct {
	choiceOptions
	// startup tells the user, with the first prompt, which configured mode is not available.
	startup []transcript.Notice
	// sandboxFound says that it was known at the start how processes are confined.
	sandboxFound bool

	mu      sync.Mutex // guards what follows
	current choice
	// pending is the mode that the session changes to once there is a sandbox; "" when there
	// is none. byClient says that the client chose it, not only the configuration.
	pending  permissions.Mode
	byClient bool
	backend  Backend // the one that was used last
	// announced are the models whose knowledge the client is told of.
	announced map[string]*modelKnowledge
	// admitted is a model that was named besides the server's list.
	admitted string
}

// choice is the state of all options.
type choice struct {
	mode permissions.Mode
	// before is the mode that plan mode was entered from; empty when it was the
	// first.
	before  permissions.Mode
	model   string
	thought string
	queue   string // what becomes of prompts that come while a turn runs
}

// choiceOptions are what choices are made of.
type choiceOptions struct {
	life *lifetime
	// sandbox finds out how processes are confined, on which the mode auto depends.
	sandbox *sandbox.Probe
	// writable are the directories in which commands may write, own the directories that no command may
	// see: the agent's and the user's home.
	writable, own []string
	catalogue     *modelCatalogue
	// emit passes an event on to the client.
	emit    func(transcript.Event)
	notices *notices
	// modeChanged puts the rules of the current mode in force.
	modeChanged func()
}

// newChoices returns what is chosen in a new session: the configured mode, and the model of
// the backend.
func newChoices(o choiceOptions, mode permissions.Mode, backend Backend) *choices {
	c := &choices{choiceOptions: o, backend: backend, announced: map[string]*modelKnowledge{}}
	_, c.sandboxFound = o.sandbox.Known()
	c.current = choice{mode: c.firstMode(mode), model: backend.Model, thought: backend.ThoughtLevel, queue: queueAfter}
	return c
}

func (c *choices) get() choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// lastBackend is the server that the session last used. It is kept so that
// nothing that must not block has to ask for it.
func (c *choices) lastBackend() Backend {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.backend
}

func (c *choices) setBackend(backend Backend) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.backend = backend
}

// restore makes what was stored of a session that goes on what is chosen. A model that the
// server cannot use any more is not taken over.
func (c *choices) restore(stored storedChoices) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.before = stored.Before
	if stored.Queue == queueSteer {
		c.current.queue = queueSteer
	}
	if stored.Model != "" && c.backend.usable(stored.Model) == nil {
		c.current.model, c.current.thought = stored.Model, stored.Thought
	}
}

// wanted is the mode that was chosen, also while it waits for the sandbox.
func (c *choices) wanted() permissions.Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.pending, c.current.mode)
}

// setModel chooses a model without looking whether it is offered.
func (c *choices) setModel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.model = id
}
