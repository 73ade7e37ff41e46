package pipeline

import (
	"context"
	"strings"
	"sync"

	"acp-agent/capability"
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

func (l *shortages) add(key string, missed run.Shortage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.texts == nil {
		l.texts = map[string]shortage{}
	}
	have := l.texts[key]
	have.missed = have.missed.And(missed)
	l.texts[key] = have
}

// grant grants a command, for the session, what it was short of until now.
func (l *shortages) grant(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have, known := l.texts[key]; known {
		l.texts[key] = shortage{have.missed, have.missed.ForGood()}
	}
}

func (l *shortages) of(key string) shortage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.texts[key]
}

// The questions about commands that would run without one if they had not failed before.
const (
	networkMissedReason = "it failed without the network, which it gets when it is allowed"
	writingMissedReason = "it failed where it could only read, and it can write when it is allowed"
	sandboxFailedReason = "it failed inside the sandbox, and can run outside of it when you allow that"
)

// askForMissed makes a question of a command that failed for want of the network, or of
// writing, and is sent again, and of one that would get the network from another in the
// same text (S4). Where no user can be asked, it runs as before: without; so does that of
// a restricted agent, which has neither in any case. A mode that changes nothing grants no
// writing.
func (j *judgement) askForMissed(ctx context.Context) {
	if j.pipeline.Asker == nil || j.pipeline.restricted {
		return
	}
	if j.access.network && j.access.othersWithoutNetwork && j.decision.Action == capability.Allow && j.answeredBefore() && !j.pipeline.Workspace.Runner().Connects(ctx) {
		j.decision.Action, j.decision.Reason = capability.Ask, sharedNetworkReason
	}
	held := j.pipeline.readOnly() != nil
	for _, resource := range j.commands() {
		short := j.pipeline.shortages.of(commandKey(resource))
		network, writing := short.missed.Network, short.missed.Writing && !held
		if short.missed.Outside && !held {
			j.access.mayOfferOutside = true
			if j.decision.Action == capability.Allow {
				j.decision.Action, j.decision.Reason, j.decision.NoAlways = capability.Ask, sandboxFailedReason, "leaving the sandbox is asked about each time"
			}
		}
		if !network && !writing {
			continue
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
			j.access.retried = true
			if !j.mayStayOpen() {
				j.decision.NoAlways = "what it runs is not known whole"
			}
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
