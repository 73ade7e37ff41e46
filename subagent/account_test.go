package subagent

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A tree exceeds a limit at most by what was in flight when it was reached. The limits of tool
// calls and subagents are exact, because they are charged at the start. Each charge counts once
// at each level.
func TestAccount_LimitsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := func() Limits {
			return Limits{
				Tokens: rapid.IntRange(0, 200).Draw(t, "tokens"), Calls: rapid.IntRange(0, 10).Draw(t, "calls"),
				Cost: rapid.Float64Range(0, 5).Draw(t, "cost"), FanOut: rapid.IntRange(0, 5).Draw(t, "fan-out"),
			}
		}
		root, tree := newAccount(), limits()
		accounts := []*account{root}
		type step struct {
			of     *account
			tokens int
			cost   float64
		}
		var flying []step
		tokens, calls := 0, 0
		excess := map[*account]int{} // what was in flight when the bound was reached
		for range rapid.IntRange(1, 80).Draw(t, "moves") {
			a := rapid.SampledFrom(accounts).Draw(t, "account")
			switch rapid.SampledFrom([]string{"open", "begin", "end", "call"}).Draw(t, "move") {
			case "open":
				if child, why := a.open(limits(), tree); why == "" {
					accounts = append(accounts, child)
				}
			case "call":
				if a.chargeCall() == "" {
					calls++
				}
			case "begin":
				if a.exhaustedNow() == "" {
					flying = append(flying, step{a, rapid.IntRange(0, 50).Draw(t, "used"), rapid.Float64Range(0, 1).Draw(t, "price")})
				}
			case "end":
				if len(flying) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(flying)-1).Draw(t, "which")
				s := flying[i]
				for _, level := range accounts {
					if l := level.limits.Tokens; l == 0 || level.spent.Tokens >= l || !s.of.isBelow(level) || level.spent.Tokens+s.tokens < l {
						continue
					}
					for _, f := range flying {
						if f.of.isBelow(level) {
							excess[level] += f.tokens
						}
					}
				}
				flying = slices.Delete(flying, i, i+1)
				s.of.chargeStep(s.tokens, s.cost)
				tokens += s.tokens
			}
		}
		if root.spent.Tokens != tokens || root.spent.Calls != calls || root.spent.Spawned != len(accounts)-1 {
			t.Fatalf("the root was charged %+v, want %d tokens, %d calls, %d subagents", root.spent, tokens, calls, len(accounts)-1)
		}
		for _, a := range accounts {
			l := a.limits
			if l.Tokens > 0 && a.spent.Tokens > l.Tokens+excess[a] {
				t.Errorf("%d tokens of %d, %d in flight", a.spent.Tokens, l.Tokens, excess[a])
			}
			if l.Calls > 0 && a.spent.Calls > l.Calls || l.FanOut > 0 && a.spent.Spawned > l.FanOut {
				t.Errorf("%d calls of %d, %d subagents of %d", a.spent.Calls, l.Calls, a.spent.Spawned, l.FanOut)
			}
		}
	})
}

func TestAccount_ChildShare(t *testing.T) {
	root := newAccount()
	outer, _ := root.open(Limits{Tokens: 1000, Calls: 7}, Limits{Tokens: 400, Cost: 2, Time: time.Minute})
	if want := (Limits{Tokens: 400, Calls: 7, Cost: 2, Time: time.Minute}); outer.limits != want {
		t.Errorf("the first has %+v, want %+v", outer.limits, want)
	}
	outer.chargeStep(100, 1)
	inner, _ := outer.open(Limits{}, Limits{Tokens: 400})
	if want := (Limits{Tokens: 150, Calls: 3, Cost: 0.5, Time: 30 * time.Second}); inner.limits != want {
		t.Errorf("the one below has %+v, want %+v", inner.limits, want)
	}
	inner.chargeStep(300, 0)
	if why := inner.exhaustedNow(); why != "its budget of 150 tokens is spent" {
		t.Errorf("the one below: %q", why)
	}
	if _, why := outer.open(Limits{}, Limits{}); why != "its budget of 400 tokens is spent" {
		t.Errorf("one more below: %q", why)
	}
	if why := root.exhaustedNow(); why != "" {
		t.Errorf("the main agent: %q", why)
	}
}

// The clock of an account runs while any of its agents has a slot, and counts once for all of
// them.
func TestAccount_Time(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		expired := make(chan string, 2)
		outer, _ := newAccount().open(Limits{Time: 10 * time.Second}, Limits{})
		inner, _ := outer.open(Limits{}, Limits{})
		outer.expire = func() { expired <- "outer" }
		inner.expire = func() { expired <- "inner" }
		time.Sleep(time.Hour) // queued
		outer.startClock()
		time.Sleep(2 * time.Second)
		outer.stopClock() // it waits for the inner one, which is queued
		time.Sleep(time.Hour)
		inner.startClock()
		time.Sleep(time.Second)
		outer.startClock() // both run
		time.Sleep(time.Second)
		synctest.Wait()
		if spent, _ := outer.statement(); spent.Time != 4*time.Second || len(expired) > 0 {
			t.Errorf("after four seconds: %s, %d expired", spent.Time, len(expired))
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		// The inner one had the half of the ten seconds that were left when it was wanted.
		if first, second := <-expired, <-expired; first != "inner" || second != "outer" {
			t.Errorf("expired: %s, %s", first, second)
		}
		if why := inner.exhaustedNow(); !strings.Contains(why, "its time of 5s is spent") {
			t.Errorf("the inner one: %q", why)
		}
	})
}
