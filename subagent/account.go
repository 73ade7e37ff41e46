package subagent

import (
	"fmt"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Spending is what an agent and all below it have spent.
type Spending struct {
	// Tokens and Cost are those of models, Calls the tool calls that were begun.
	Tokens int
	Cost   float64
	Calls  int
	// Time is how long any of them was running: neither the wait for a place nor that
	// for a subagent which waits for one counts.
	Time time.Duration
	// Spawned counts the subagents below.
	Spawned int
}

// account is what an agent and all below it have spent, and may spend. What is charged
// to it is charged to those above it too, once. An account without limits bounds
// nothing. One lock guards all accounts of a family.
type account struct {
	mu     *sync.Mutex
	parent *account
	limits Limits
	spent  Spending
	// running counts the agents at or below this one that hold a place, since is when
	// the first of them took its.
	running int
	since   time.Time
	timer   *time.Timer
	// expire is called, on a goroutine of its own, when the time is up.
	expire func()
}

// newAccount is the account of the main agent, which bounds nothing itself.
func newAccount() *account { return &account{mu: &sync.Mutex{}} }

// share is the part of what its parent has left that a subagent may spend at most, so
// that one of them cannot leave nothing to the others.
const share = 2

// open opens the account of one more subagent, or says why there may be none. It is
// bounded by what its manifest grants it and, when the main agent spawns it, by the
// tree's budget; further down by a share of what is left to its parent.
func (a *account) open(own, tree Limits) (child *account, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if why := a.over(time.Now()); why != "" {
		return nil, why
	}
	if why := a.spentOf(func(level *account) string {
		if limit := level.limits.FanOut; limit > 0 && level.spent.Spawned >= limit {
			return "budget of " + kinds.Count(limit, "subagent")
		}
		return ""
	}); why != "" {
		return nil, why
	}
	a.each(func(level *account) { level.spent.Spawned++ })
	bound := tree
	if a.parent != nil {
		bound = a.left(time.Now())
	}
	return &account{mu: a.mu, parent: a, limits: Limits{
		Tokens: least(own.Tokens, bound.Tokens), Calls: least(own.Calls, bound.Calls), Cost: least(own.Cost, bound.Cost),
		Time: least(own.Time, bound.Time), FanOut: least(own.FanOut, bound.FanOut),
	}}, ""
}

// left is a share of what an account that is not spent may still spend; zero fields have
// no limit. The number of subagents is bounded by the accounts above, unshared.
func (a *account) left(now time.Time) Limits {
	var l Limits
	if a.limits.Tokens > 0 {
		l.Tokens = max(1, (a.limits.Tokens-a.spent.Tokens)/share)
	}
	if a.limits.Calls > 0 {
		l.Calls = max(1, (a.limits.Calls-a.spent.Calls)/share)
	}
	if a.limits.Cost > 0 {
		l.Cost = (a.limits.Cost - a.spent.Cost) / share
	}
	if a.limits.Time > 0 {
		if l.Time = max(1, (a.limits.Time-a.time(now))/share); l.Time > time.Second {
			l.Time = l.Time.Round(time.Second) // people read it
		}
	}
	return l
}

// least is the smaller of two limits, of which 0 is none.
func least[N int | float64 | time.Duration](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// each visits the account and those above it.
func (a *account) each(visit func(level *account)) {
	for ; a != nil; a = a.parent {
		visit(a)
	}
}

// spentOf says whose limit is reached, of those that reached names, from the account up.
func (a *account) spentOf(reached func(level *account) string) string {
	for level := a; level != nil; level = level.parent {
		if what := reached(level); what != "" {
			if level == a {
				return "its " + what + " is spent"
			}
			return "the " + what + " of the agent that delegated to it is spent"
		}
	}
	return ""
}

// chargeStep charges a model call that has ended.
func (a *account) chargeStep(tokens int, cost float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.each(func(level *account) {
		level.spent.Tokens += tokens
		level.spent.Cost += cost
	})
}

// chargeCall charges a tool call that is to begin, or says why it must not.
func (a *account) chargeCall() (why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if why := a.spentOf((*account).overCalls); why != "" {
		return why
	}
	a.each(func(level *account) { level.spent.Calls++ })
	return ""
}

func (a *account) overCalls() string {
	if limit := a.limits.Calls; limit > 0 && a.spent.Calls >= limit {
		return "budget of " + kinds.Count(limit, "tool call")
	}
	return ""
}

// reached says which bound is reached, of the account or of one above it; "" when none
// is.
func (a *account) reached() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.over(time.Now())
}

func (a *account) over(now time.Time) string {
	return a.spentOf(func(level *account) string {
		switch l := level.limits; {
		case l.Tokens > 0 && level.spent.Tokens >= l.Tokens:
			return fmt.Sprintf("budget of %d tokens", l.Tokens)
		case l.Cost > 0 && level.spent.Cost >= l.Cost:
			return fmt.Sprintf("budget of %.4g in money", l.Cost)
		case l.Time > 0 && level.time(now) >= l.Time:
			return fmt.Sprintf("time of %s", l.Time)
		}
		return level.overCalls()
	})
}

// time is how long any agent of the account was running.
func (a *account) time(now time.Time) time.Duration {
	if a.running == 0 {
		return a.spent.Time
	}
	return a.spent.Time + now.Sub(a.since)
}

// enter has the clock run for an agent that begins or goes on, leave stops it.
func (a *account) enter() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.each(func(level *account) {
		if level.running++; level.running > 1 {
			return
		}
		level.since = now
		if level.limits.Time > 0 && level.expire != nil {
			level.timer = time.AfterFunc(level.limits.Time-level.spent.Time, level.expire)
		}
	})
}

func (a *account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.each(func(level *account) {
		if level.running--; level.running > 0 {
			return
		}
		level.spent.Time += now.Sub(level.since)
		if level.timer != nil {
			level.timer.Stop()
		}
	})
}

// under reports whether an account is another, or below it.
func (a *account) under(above *account) bool {
	for ; a != nil; a = a.parent {
		if a == above {
			return true
		}
	}
	return false
}

// statement is what the account has spent by now, and its limits.
func (a *account) statement() (Spending, Limits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	spent := a.spent
	spent.Time = a.time(time.Now())
	return spent, a.limits
}

// charge charges a model call of the agent, by what the server says of it.
func (n *Node) charge(u transcript.Usage) {
	cost := 0.0
	if n.family.Price != nil {
		cost = n.family.Price(n.Model(), u)
	}
	n.account.chargeStep(u.Total(), cost)
	n.child.Update(func(r *transcript.ChildRecord) {
		r.Usage = r.Usage.Add(u)
		r.Cost += cost
	})
}
