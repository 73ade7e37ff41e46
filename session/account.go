package session

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/subagent"
	"acp-agent/transcript"
)

// account counts what a session uses: the main agent's tokens and their price, and how much
// of the model's window is filled. It is safe for concurrent use.
type account struct {
	sessionID string
	// price returns what a model call cost in US dollars, 0 where that is not known; nil means
	// that no price is known.
	price func(model string, u transcript.Usage) float64
	// children are the statements of all subagents; nil means that there are none.
	children func() []subagent.Statement

	mu       sync.Mutex // guards what follows
	spent    spent
	context  transcript.UsageChanged // the last one
	fullness fullness
}

// note counts a step of the main agent.
func (a *account) note(e transcript.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent.note(e, a.price)
}

// restore sets what a stored session had used.
func (a *account) restore(info store.Info) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent.tokens, a.spent.cost = info.Usage, info.Cost
	a.context = transcript.UsageChanged{Used: info.Used, Size: info.Size, Cost: info.Cost}
}

// add counts a model call that an internal agent made.
func (a *account) add(model string, usage *transcript.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent.add(model, usage, a.price)
}

// fill notes how full the window is and adds the cost so far to the event. warning is a text for
// the user; "" means that there is nothing to warn about.
func (a *account) fill(e transcript.UsageChanged) (with transcript.UsageChanged, warning string) {
	e.Cost = a.cost()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.context = e
	return e, a.fullness.note(e.Used, e.Size)
}

// clear lets a new conversation be warned about again, and returns the size of the window; 0 when it
// is not known.
func (a *account) clear() (window int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fullness = fullness{}
	return a.context.Size
}

// now returns the tokens used so far, and how full the window was last.
func (a *account) now() (tokens transcript.Usage, window transcript.UsageChanged) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent.tokens, a.context
}

// statements are those of all subagents.
func (a *account) statements() []subagent.Statement {
	if a.children == nil {
		return nil
	}
	return a.children()
}

// spent is what the main agent has used.
type spent struct {
	tokens transcript.Usage
	// cost is in US dollars; unpriced says that the price of a model call is not known.
	cost     float64
	unpriced bool
	// model is the one of the step that runs.
	model string
}

// note counts the usage of a step when it ends.
func (u *spent) note(e transcript.Event, price func(string, transcript.Usage) float64) {
	switch e := e.(type) {
	case transcript.StepStarted:
		u.model = e.Model
	case transcript.StepFinished:
		u.add(u.model, e.Usage, price)
	}
}

// add counts a model call; a nil usage is not known, and counts nothing. A nil price knows no prices.
func (u *spent) add(model string, usage *transcript.Usage, price func(string, transcript.Usage) float64) {
	if usage == nil {
		return
	}
	u.tokens = u.tokens.Add(*usage)
	if price != nil {
		cost := price(model, *usage)
		u.cost += cost
		u.unpriced = u.unpriced || cost == 0 && usage.Total() > 0
	}
}

// cost is what the session has cost so far, with its subagents.
func (a *account) cost() float64 {
	a.mu.Lock()
	cost := a.spent.cost
	a.mu.Unlock()
	for _, st := range a.statements() {
		if st.Record.ParentID == a.sessionID {
			cost += st.Spent.Cost // with those below it
		}
	}
	return cost
}

// text is the answer to /usage: what the main agent and each subagent have spent, and their limits.
func (a *account) text() string {
	a.mu.Lock()
	main := a.spent
	a.mu.Unlock()
	statements := a.statements()
	below := map[string][]subagent.Statement{}
	tokens, cost := main.tokens.Total(), main.cost
	for _, st := range statements {
		parent := st.Record.ParentID
		below[parent] = append(below[parent], st)
		if parent == a.sessionID {
			tokens, cost = tokens+st.Spent.Tokens, cost+st.Spent.Cost
		}
	}
	var b strings.Builder
	priced := cost > 0
	fmt.Fprintf(&b, "**Usage**: %s\n\n", amounts(tokens, cost, priced))
	fmt.Fprintf(&b, "- main: %s (%d in, %d cached, %d out, %d reasoning)\n", amounts(main.tokens.Total(), main.cost, priced),
		main.tokens.Input, main.tokens.CacheRead, main.tokens.Output, main.tokens.Reasoning)
	var list func(parent, indent string)
	list = func(parent, indent string) {
		for _, st := range below[parent] {
			fmt.Fprintf(&b, "%s- %s, %s: %s\n", indent, kinds.Code(st.Record.Agent, agentRunes), st.Record.State, spentOf(st, priced))
			list(st.Record.ID, indent+"  ")
		}
	}
	list(a.sessionID, "  ")
	if priced && main.unpriced {
		b.WriteString("\nThe price of some model calls is not known; the cost is without them.\n")
	}
	if len(statements) > 0 {
		b.WriteString("\nThe figures of a subagent include those below it.\n")
	}
	return b.String()
}

// agentRunes bounds what is shown of an agent's name.
const agentRunes = 60

func amounts(tokens int, cost float64, priced bool) string {
	text := fmt.Sprintf("%d tokens", tokens)
	if priced {
		text += fmt.Sprintf(", cost $%.4f", cost)
	}
	return text
}

// spentOf says what a subagent has spent, with the subagents below it, and its limits.
func spentOf(st subagent.Statement, priced bool) string {
	spent, limits := st.Spent, st.Limits
	facts := []string{fmt.Sprintf("%d%s tokens", spent.Tokens, of(limits.Tokens > 0, "%d", limits.Tokens))}
	if priced || limits.Cost > 0 {
		facts = append(facts, fmt.Sprintf("cost $%.4f%s", spent.Cost, of(limits.Cost > 0, "$%.4f", limits.Cost)))
	}
	facts = append(facts,
		fmt.Sprintf("%d%s tool calls", spent.Calls, of(limits.Calls > 0, "%d", limits.Calls)),
		fmt.Sprintf("%s%s", spent.Time.Truncate(time.Second), of(limits.Time > 0, "%s", limits.Time)))
	if spent.Spawned > 0 || limits.FanOut > 0 {
		facts = append(facts, fmt.Sprintf("%d%s subagents", spent.Spawned, of(limits.FanOut > 0, "%d", limits.FanOut)))
	}
	return strings.Join(facts, ", ")
}

// of is the limit after an amount, " of 5"; "" where there is none.
func of(limited bool, format string, limit any) string {
	if !limited {
		return ""
	}
	return " of " + fmt.Sprintf(format, limit)
}
