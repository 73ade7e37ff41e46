package subagent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"acp-agent/transcript"
)

// account is what an agent and all below it have spent, and may spend. What is charged
// to it is charged to those above it too. The zero value has no limits. The family's
// budget lock guards its fields.
type account struct {
	parent *account
	limits Limits
	began  time.Time // zero until it runs
	tokens int
	calls  int
	cost   float64
	// spawned counts the subagents that the agent itself has spawned.
	spawned int
}

// share is the part of what its parent has left that a subagent may spend at most, so
// that one of them cannot leave nothing to the others.
const share = 2

// spawn counts one more subagent, or says why there may be none.
func (a *account) spawn(mu *sync.Mutex) string {
	mu.Lock()
	defer mu.Unlock()
	if why := a.spent(time.Now()); why != "" {
		return why
	}
	if limit := a.limits.FanOut; limit > 0 && a.spawned >= limit {
		return fmt.Sprintf("this agent has started %d, which is as many as it may", limit)
	}
	a.spawned++
	return ""
}

// slice is the account of a subagent: what its manifest grants it, within the tree's
// budget for one that the main agent spawns, and within a share of what is left to its
// parent for others.
func (a *account) slice(mu *sync.Mutex, own, tree Limits) *account {
	mu.Lock()
	defer mu.Unlock()
	bound := tree
	if a.parent != nil {
		bound = a.left(time.Now())
	}
	return &account{parent: a, limits: Limits{
		Tokens: least(own.Tokens, bound.Tokens), Calls: least(own.Calls, bound.Calls), Cost: least(own.Cost, bound.Cost),
		Time: least(own.Time, bound.Time), FanOut: least(own.FanOut, tree.FanOut),
	}}
}

// left is a share of what the account may still spend; zero fields have no limit.
func (a *account) left(now time.Time) Limits {
	var l Limits
	if a.limits.Tokens > 0 {
		l.Tokens = max(1, (a.limits.Tokens-a.tokens)/share)
	}
	if a.limits.Calls > 0 {
		l.Calls = max(1, (a.limits.Calls-a.calls)/share)
	}
	if a.limits.Cost > 0 {
		l.Cost = (a.limits.Cost - a.cost) / share
	}
	if a.limits.Time > 0 && !a.began.IsZero() {
		l.Time = max(1, (a.limits.Time-now.Sub(a.began))/share)
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

// errTimeSpent is the cause of a run whose time is up.
var errTimeSpent = errors.New("the time of the subagent is up")

// clock begins the account's time; the context ends when it is up.
func (a *account) clock(ctx context.Context, mu *sync.Mutex) (context.Context, context.CancelFunc) {
	mu.Lock()
	a.began = time.Now()
	limit := a.limits.Time
	mu.Unlock()
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, errTimeSpent)
}

// chargeStep charges a model call.
func (a *account) chargeStep(mu *sync.Mutex, u transcript.Usage, cost float64) {
	mu.Lock()
	defer mu.Unlock()
	for ; a != nil; a = a.parent {
		a.tokens += u.Total()
		a.cost += cost
	}
}

// chargeCall charges a tool call.
func (a *account) chargeCall(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	for ; a != nil; a = a.parent {
		a.calls++
	}
}

// over says which bound is reached, of the account or of one above it; "" when none is.
func (a *account) over(mu *sync.Mutex) string {
	mu.Lock()
	defer mu.Unlock()
	return a.spent(time.Now())
}

func (a *account) spent(now time.Time) string {
	for level := a; level != nil; level = level.parent {
		whose := "its"
		if level != a {
			whose = "the delegating agent's"
		}
		switch l := level.limits; {
		case l.Tokens > 0 && level.tokens >= l.Tokens:
			return fmt.Sprintf("%s budget of %d tokens is spent", whose, l.Tokens)
		case l.Calls > 0 && level.calls >= l.Calls:
			return fmt.Sprintf("%s budget of %d tool calls is spent", whose, l.Calls)
		case l.Cost > 0 && level.cost >= l.Cost:
			return fmt.Sprintf("%s budget of %.4g is spent", whose, l.Cost)
		case l.Time > 0 && !level.began.IsZero() && now.Sub(level.began) >= l.Time:
			return fmt.Sprintf("%s time of %s is up", whose, l.Time)
		}
	}
	return ""
}
