package config

import "time"

// Agent is what the settings say of one agent, by its name (R99). Zero fields leave what
// its manifest says.
type Agent struct {
	// Model is the model that it runs on.
	Model string `json:"model"`
	// Temperature is sent with its requests when it is not nil.
	Temperature *float64 `json:"temperature"`
	// MaxOutput is the most tokens of one of its answers.
	MaxOutput int `json:"max_output"`
	// Cycles is the most model calls of one run of it.
	Cycles int `json:"cycles"`
}

// Price is what a million tokens of a model cost, in US dollars.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// CacheRead and CacheWrite are for input that the server found in its cache, or put
	// there.
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Subagents configures delegation.
type Subagents struct {
	// Enabled offers the task tool, and the tools that are agents themselves.
	Enabled bool `json:"enabled"`
	// Depth is how deep agents may delegate: the main agent has depth 0 (R65).
	Depth int `json:"depth"`
	// Running is how many subagents of a session run at once; others wait.
	Running int `json:"running"`
	// Budget bounds what one delegation of the main agent may spend.
	Budget Budget `json:"budget"`
}

// Budget bounds what a subagent and all beneath it may spend together. 0 means no limit.
type Budget struct {
	// Tokens counts input and output of models.
	Tokens int `json:"tokens"`
	// Cost is in the currency of the configured prices.
	Cost float64 `json:"cost"`
	// Time is that in which any of them runs.
	Time Duration `json:"time"`
	// Calls counts tool calls, FanOut the subagents that are spawned.
	Calls  int `json:"calls"`
	FanOut int `json:"fan_out"`
}

// The defaults for subagents and the most that may be set.
const (
	defaultDepth   = 5
	defaultRunning = 8
	defaultCalls   = 1000
	defaultTime    = time.Hour
	defaultFanOut  = 50

	mostDepth  = 10
	mostCycles = 100_000
)

func defaultSubagents() Subagents {
	return Subagents{
		Enabled: true, Depth: defaultDepth, Running: defaultRunning,
		Budget: Budget{Calls: defaultCalls, Time: Duration{defaultTime}, FanOut: defaultFanOut},
	}
}

// projectSubagents is what a project may tighten.
type projectSubagents struct {
	Enabled *bool `json:"enabled"`
	Depth   *int  `json:"depth"`
	Running *int  `json:"running"`
	Budget  struct {
		Tokens *int      `json:"tokens"`
		Cost   *float64  `json:"cost"`
		Time   *Duration `json:"time"`
		Calls  *int      `json:"calls"`
		FanOut *int      `json:"fan_out"`
	} `json:"budget"`
}

// tighten takes what is lower of the project's.
func (s *Subagents) tighten(p projectSubagents) {
	if p.Enabled != nil {
		s.Enabled = s.Enabled && *p.Enabled
	}
	lower(&s.Depth, p.Depth)
	lower(&s.Running, p.Running)
	b := &s.Budget
	lowerBudget(&b.Tokens, p.Budget.Tokens)
	lowerBudget(&b.Cost, p.Budget.Cost)
	lowerBudget(&b.Calls, p.Budget.Calls)
	lowerBudget(&b.FanOut, p.Budget.FanOut)
	if t := p.Budget.Time; t != nil {
		lowerBudget(&b.Time.Duration, &t.Duration)
	}
}

// lowerBudget is lower for limits of which 0 is none.
func lowerBudget[T int | float64 | time.Duration](limit, to *T) {
	if to != nil && *to != 0 && (*limit == 0 || *to < *limit) {
		*limit = *to
	}
}

func (f *file) checkSubagents(s Subagents) error {
	if s.Depth < 1 || s.Depth > mostDepth {
		return f.errorf("subagents.depth", "must be between 1 and %d, found %d", mostDepth, s.Depth)
	}
	if s.Running < 1 || s.Running > mostConcurrent {
		return f.errorf("subagents.running", "must be between 1 and %d, found %d", mostConcurrent, s.Running)
	}
	b := s.Budget
	for _, n := range []struct {
		field string
		value float64
	}{
		{"tokens", float64(b.Tokens)}, {"cost", b.Cost}, {"calls", float64(b.Calls)}, {"fan_out", float64(b.FanOut)},
	} {
		if n.value < 0 {
			return f.errorf("subagents.budget."+n.field, "must not be negative, found %v", n.value)
		}
	}
	return nil
}

func (f *file) checkAgents(agents map[string]Agent) error {
	for _, name := range sortedKeys(agents) {
		a, field := agents[name], "agents."+name
		switch {
		case name == "":
			return f.errorf(field, "expects the name of an agent")
		case a.Temperature != nil && (*a.Temperature < 0 || *a.Temperature > 2):
			return f.errorf(field+".temperature", "must be between 0 and 2, found %v", *a.Temperature)
		case a.MaxOutput < 0:
			return f.errorf(field+".max_output", "must not be negative, found %d", a.MaxOutput)
		case a.Cycles < 0 || a.Cycles > mostCycles:
			return f.errorf(field+".cycles", "must be between 0 and %d, found %d", mostCycles, a.Cycles)
		}
	}
	return nil
}

func (f *file) checkPrices(field string, prices map[string]Price) error {
	for _, name := range sortedKeys(prices) {
		p := prices[name]
		for _, n := range []struct {
			part  string
			value float64
		}{{"input", p.Input}, {"output", p.Output}, {"cache_read", p.CacheRead}, {"cache_write", p.CacheWrite}} {
			if n.value < 0 {
				return f.errorf(field+".prices."+name+"."+n.part, "must not be negative, found %v", n.value)
			}
		}
	}
	return nil
}
