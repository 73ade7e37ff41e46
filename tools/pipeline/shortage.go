package pipeline

import (
	"context"
	"slices"
	"strings"
	"sync"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// shortages records the commands of a session that failed for want of something that the user can
// grant, by directory and text. The zero value is ready.
type shortages struct {
	mu    sync.Mutex
	texts map[string]shortage
}

// shortage is what one command was short of, and what of it the user has granted for the session.
type shortage struct{ missed, granted run.Shortage }

// commandKey identifies a command by its directory and text.
func commandKey(resource tools.Resource) string { return resource.Dir + "\x00" + resource.Value }

func (s *shortages) add(key string, missed run.Shortage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]shortage{}
	}
	have := s.texts[key]
	have.missed = have.missed.And(missed)
	s.texts[key] = have
}

// grant grants a command, for the session, what it was short of until now.
func (s *shortages) grant(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, known := s.texts[key]; known {
		s.texts[key] = shortage{have.missed, have.missed.ForGood()}
	}
}

func (s *shortages) of(key string) shortage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[key]
}

// The questions about commands that would run without one if they had not failed before, and about
// commands that are each allowed, but not together.
const (
	sharedNetworkReason = "one of the commands was allowed with the network, and the others would get it with them"
	networkMissedReason = "it failed without the network, which it gets when it is allowed"
	writingMissedReason = "it failed where it could only read, and it can write when it is allowed"
	sandboxFailedReason = "it failed inside the sandbox, and can run outside of it when you allow that"
)

// askAboutMissed asks about a command that failed for want of the network, of writing or of what lies
// outside the sandbox, and is sent again. It also asks about commands that would get the network only
// because another command of the same text may have it (S4). It asks nothing where no user is there or
// the agent is restricted: the commands run as before. A mode that changes nothing grants no writing.
func (j *judgement) askAboutMissed(ctx context.Context) {
	if j.pipeline.Asker == nil || j.pipeline.restricted {
		return
	}
	if j.sharesNetwork(ctx) {
		j.decision.Action, j.decision.Reason = capability.Ask, sharedNetworkReason
	}
	for _, resource := range j.commands() {
		j.askAboutShortage(j.pipeline.shortages.of(commandKey(resource)))
	}
}

// sharesNetwork reports whether commands that are not meant to have the network would get it from
// another one, to which the user has allowed it.
func (j *judgement) sharesNetwork(ctx context.Context) bool {
	return j.access.network && j.access.othersWithoutNetwork && j.decision.Action == capability.Allow &&
		j.networkAllowedBefore() && !j.pipeline.Workspace.Runner().CommandsUseProxy(ctx)
}

// askAboutShortage asks about a command that failed for want of something, unless the user has
// granted that for the session.
func (j *judgement) askAboutShortage(short shortage) {
	held := j.pipeline.readOnly() != nil
	network, writing := short.missed.Network, short.missed.Writing && !held
	if short.missed.Outside && !held {
		j.access.mayOfferOutside = true
		if j.decision.Action == capability.Allow {
			j.decision.Action, j.decision.Reason, j.decision.NoAlways = capability.Ask, sandboxFailedReason, "leaving the sandbox is asked about each time"
		}
	}
	if !network && !writing {
		return
	}
	j.access.network, j.access.missed = j.access.network || network, run.Shortage{Network: network, Writing: writing}
	var reasons []string
	if network && !short.granted.Network {
		reasons = append(reasons, networkMissedReason)
	}
	if writing && !short.granted.Writing {
		reasons = append(reasons, writingMissedReason)
	}
	if len(reasons) > 0 && j.decision.Action == capability.Allow {
		j.decision.Action, j.decision.Reason = capability.Ask, strings.Join(reasons, "; ")
		j.access.asksForMissed = true
		if !j.mayAlwaysGrantMissed() {
			j.decision.NoAlways = "what it runs is not known whole"
		}
	}
}

// grantedBefore returns what the user has granted to the call's commands for the session.
func (a *commandAccess) grantedBefore() (granted run.Shortage) {
	for _, resource := range a.commands() {
		short := a.pipeline.shortages.of(commandKey(resource))
		granted.Network = granted.Network || short.granted.Network
		granted.Writing = granted.Writing || short.granted.Writing
	}
	return granted
}

// noteShortage records what the commands of the call failed for want of.
func (a *commandAccess) noteShortage(commands *run.Commands) {
	missed := commands.Shortage()
	if missed == (run.Shortage{}) {
		return
	}
	for _, resource := range a.commands() {
		a.pipeline.shortages.add(commandKey(resource), missed)
	}
}

// missedText names what "always" would grant.
func (a *commandAccess) missedText() string {
	switch a.missed {
	case run.Shortage{Writing: true}:
		return "writing"
	case run.Shortage{Network: true}:
		return "the network"
	}
	return "the network and writing"
}

// grantMissed grants to the call's commands, for the session, what they failed for want of.
func (a *commandAccess) grantMissed() {
	if a.missed == (run.Shortage{}) {
		return
	}
	for _, resource := range a.commands() {
		a.pipeline.shortages.grant(commandKey(resource))
	}
}

// mayAlwaysGrantMissed reports whether "always" may grant the very same commands, from now on, what they
// failed for want of. Commands for which no rule is ever stored do not get this "always" either (E5).
func (j *judgement) mayAlwaysGrantMissed() bool {
	return j.access.asksForMissed && !slices.ContainsFunc(j.judged.Resources, func(resource permissions.Resource) bool {
		judged := resource.Judged
		return resource.Dynamic || judged != nil && judged.Action != capability.Allow && len(judged.Always) == 0
	})
}
