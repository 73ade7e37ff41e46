package pipeline

import (
	"context"
	"strings"
	"sync"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// lacks are the commands of a session that failed for want of what the user can grant to
// them, by their text and directory. The zero value is ready.
type lacks struct {
	mu    sync.Mutex
	texts map[string]lack
}

// lack is what one command missed, and what of it the user has granted for good.
type lack struct{ missed, granted run.Lacking }

// commandKey identifies a command by its directory and text.
func commandKey(resource tools.Resource) string { return resource.Dir + "\x00" + resource.Value }

func (l *lacks) add(key string, missed run.Lacking) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.texts == nil {
		l.texts = map[string]lack{}
	}
	have := l.texts[key]
	have.missed = run.Lacking{Network: have.missed.Network || missed.Network, Writing: have.missed.Writing || missed.Writing}
	l.texts[key] = have
}

// grant grants a command for good what it has missed until now.
func (l *lacks) grant(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have, known := l.texts[key]; known {
		l.texts[key] = lack{have.missed, have.missed}
	}
}

func (l *lacks) of(key string) lack {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.texts[key]
}

// missedReason and readReason are why a command is asked about that would otherwise just
// run.
const (
	missedReason = "it failed without the network, which it gets when it is allowed"
	readReason   = "it failed where it could only read, and it can write when it is allowed"
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
	if j.reach.network && j.reach.beside && j.decision.Action == capability.Allow && j.answeredBefore() && !j.pipeline.Workspace.Runner().Connects(ctx) {
		j.decision.Action, j.decision.Reason = capability.Ask, besideReason
	}
	held := j.pipeline.readOnly() != nil
	for _, resource := range j.commands() {
		lack := j.pipeline.lacks.of(commandKey(resource))
		network, writing := lack.missed.Network, lack.missed.Writing && !held
		if !network && !writing {
			continue
		}
		j.reach.network, j.reach.missed = j.reach.network || network, run.Lacking{Network: network, Writing: writing}
		var reasons []string
		if network && !lack.granted.Network {
			reasons = append(reasons, missedReason)
		}
		if writing && !lack.granted.Writing {
			reasons = append(reasons, readReason)
		}
		if len(reasons) > 0 && j.decision.Action == capability.Allow {
			j.decision.Action, j.decision.Reason = capability.Ask, strings.Join(reasons, "; ")
			j.reach.again = true
			if !j.mayStayOpen() {
				j.decision.NoAlways = "what it runs is not known whole"
			}
		}
	}
}

// lacksGranted is what the user has granted for good to the call's commands.
func (r *reach) lacksGranted() (granted run.Lacking) {
	for _, resource := range r.commands() {
		lack := r.pipeline.lacks.of(commandKey(resource))
		granted.Network = granted.Network || lack.granted.Network
		granted.Writing = granted.Writing || lack.granted.Writing
	}
	return granted
}

// noteLacks remembers a command that failed for want of what it can be granted.
func (r *reach) noteLacks(commands *run.Commands) {
	missed := commands.Lacking()
	if missed == (run.Lacking{}) {
		return
	}
	for _, resource := range r.commands() {
		r.pipeline.lacks.add(commandKey(resource), missed)
	}
}

// lacks says what "always" would grant.
func (r *reach) lacks() string {
	switch r.missed {
	case run.Lacking{Writing: true}:
		return "writing"
	case run.Lacking{Network: true}:
		return "the network"
	}
	return "the network and writing"
}

// grantMissed grants for good what the call's commands have failed without.
func (r *reach) grantMissed() {
	if r.missed == (run.Lacking{}) {
		return
	}
	for _, resource := range r.commands() {
		r.pipeline.lacks.grant(commandKey(resource))
	}
}
