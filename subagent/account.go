package subagent

import (
	"fmt"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Spending is what an agent and its descendants have spent.
type Spending struct {
	// Tokens and Cost are those of model calls. Calls counts the tool calls that started.
	Tokens int
	Cost   float64
	Calls  int
	// Time is how long at least one of them held a run slot. Waiting for a slot does not count,
	// nor does waiting for a subagent that has no slot.
	Time time.Duration
	// Spawned counts the descendants.
	Spawned int
}

// account records what an agent and its descendants have spent and may spend. Each charge also
// goes to every account above. An account without limits bounds nothing. One lock guards all
// accounts of a tree.
type account struct {
	mu     *sync.Mutex
	parent *account
	limits Limits
	spent  Spending
	// running counts the agents at or below this one that hold a run slot; since is when the
	// first of them acquired its slot.
	running int
	since   time.Time
	timer   *time.Timer
	// expire is called on its own goroutine when the time limit is reached.
	expire func()
}

// newAccount returns the account of the main agent, which has no limits.
func newAccount() *account { return &account{mu: &sync.Mutex{}} }

// childShare divides a parent's remaining budget: a subagent may spend at most half of it,
// so that one subagent cannot use up what its siblings need.
const childShare = 2

// open returns the account of a new subagent, or the reason why no subagent can start. The
// limits of the manifest bound the account. A child of the main agent is also bounded by the
// budget of its tree; a deeper one by a share of its parent's remaining budget.
func (a *account) open(own, budget Limits) (child *account, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if why := a.exhausted(time.Now()); why != "" {
		return nil, why
	}
	if why := a.firstExhausted(func(level *account) string {
		if limit := level.limits.FanOut; limit > 0 && level.spent.Spawned >= limit {
			return "budget of " + kinds.Count(limit, "subagent")
		}
		return ""
	}); why != "" {
		return nil, why
	}
	a.forEachLevel(func(level *account) { level.spent.Spawned++ })
	bound := budget
	if a.parent != nil {
		bound = a.remainingShare(time.Now())
	}
	return &account{mu: a.mu, parent: a, limits: Limits{
		Tokens: least(own.Tokens, bound.Tokens), Calls: least(own.Calls, bound.Calls), Cost: least(own.Cost, bound.Cost),
		Time: least(own.Time, bound.Time), FanOut: least(own.FanOut, bound.FanOut),
	}}, ""
}

// remainingShare returns the part of the remaining budget that one child may spend; zero fields
// have no limit. FanOut is not shared: the accounts above bound it.
func (a *account) remainingShare(now time.Time) Limits {
	var l Limits
	if a.limits.Tokens > 0 {
		l.Tokens = max(1, (a.limits.Tokens-a.spent.Tokens)/childShare)
	}
	if a.limits.Calls > 0 {
		l.Calls = max(1, (a.limits.Calls-a.spent.Calls)/childShare)
	}
	if a.limits.Cost > 0 {
		l.Cost = (a.limits.Cost - a.spent.Cost) / childShare
	}
	if a.limits.Time > 0 {
		if l.Time = max(1, (a.limits.Time-a.runningTime(now))/childShare); l.Time > time.Second {
			l.Time = l.Time.Round(time.Second) // the limit appears in messages
		}
	}
	return l
}

// least returns the smaller of two limits; 0 means no limit.
func least[N int | float64 | time.Duration](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// forEachLevel visits the account and every account above it.
func (a *account) forEachLevel(visit func(level *account)) {
	for ; a != nil; a = a.parent {
		visit(a)
	}
}

// firstExhausted calls exhausted for the account and then for those above it, and describes the
// first limit that exhausted reports.
func (a *account) firstExhausted(exhausted func(level *account) string) string {
	for level := a; level != nil; level = level.parent {
		if what := exhausted(level); what != "" {
			if level == a {
				return "its " + what + " is spent"
			}
			return "the " + what + " of the agent that delegated to it is spent"
		}
	}
	return ""
}

// chargeStep charges a finished model call.
func (a *account) chargeStep(tokens int, cost float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forEachLevel(func(level *account) {
		level.spent.Tokens += tokens
		level.spent.Cost += cost
	})
}

// chargeCall charges a tool call before it starts, or returns the reason why it must not start.
func (a *account) chargeCall() (why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if why := a.firstExhausted((*account).callsExhausted); why != "" {
		return why
	}
	a.forEachLevel(func(level *account) { level.spent.Calls++ })
	return ""
}

func (a *account) callsExhausted() string {
	if limit := a.limits.Calls; limit > 0 && a.spent.Calls >= limit {
		return "budget of " + kinds.Count(limit, "tool call")
	}
	return ""
}

// exhaustedNow describes a limit that the account or one above it has reached, or returns "".
func (a *account) exhaustedNow() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.exhausted(time.Now())
}

func (a *account) exhausted(now time.Time) string {
	return a.firstExhausted(func(level *account) string {
		switch l := level.limits; {
		case l.Tokens > 0 && level.spent.Tokens >= l.Tokens:
			return fmt.Sprintf("budget of %d tokens", l.Tokens)
		case l.Cost > 0 && level.spent.Cost >= l.Cost:
			return fmt.Sprintf("budget of %.4g in money", l.Cost)
		case l.Time > 0 && level.runningTime(now) >= l.Time:
			return fmt.Sprintf("time of %s", l.Time)
		}
		return level.callsExhausted()
	})
}

// runningTime returns how long at least one agent of the account held a run slot.
func (a *account) runningTime(now time.Time) time.Duration {
	if a.running == 0 {
		return a.spent.Time
	}
	return a.spent.Time + now.Sub(a.since)
}

// startClock counts one more running agent; the first one starts the clock.
func (a *account) startClock() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.forEachLevel(func(level *account) {
		if level.running++; level.running > 1 {
			return
		}
		level.since = now
		if level.limits.Time > 0 && level.expire != nil {
			level.timer = time.AfterFunc(level.limits.Time-level.spent.Time, level.expire)
		}
	})
}

// stopClock counts one running agent less; the last one stops the clock.
func (a *account) stopClock() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.forEachLevel(func(level *account) {
		if level.running--; level.running > 0 {
			return
		}
		level.spent.Time += now.Sub(level.since)
		if level.timer != nil {
			level.timer.Stop()
		}
	})
}

// isBelow reports whether a is above or one of its descendants.
func (a *account) isBelow(above *account) bool {
	for ; a != nil; a = a.parent {
		if a == above {
			return true
		}
	}
	return false
}

// statement returns what the account has spent so far, and its limits.
func (a *account) statement() (Spending, Limits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	spent := a.spent
	spent.Time = a.runningTime(time.Now())
	return spent, a.limits
}

// Charge charges a model call for the agent with the usage that the server reported, also one
// that is not a step of the agent, such as the summary of its conversation.
func (n *Node) Charge(model string, u transcript.Usage) {
	cost := 0.0
	if n.tree.Price != nil {
		cost = n.tree.Price(model, u)
	}
	n.account.chargeStep(u.Total(), cost)
	n.child.Update(func(r *transcript.ChildRecord) {
		r.Usage = r.Usage.Add(u)
		r.Cost += cost
	})
}
