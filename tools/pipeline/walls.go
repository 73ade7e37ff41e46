package pipeline

import (
	"context"
	"path"
	"slices"
	"sync"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// reaches is what the commands of a call need beyond the walls that stand by default.
type reaches struct {
	network bool // of a command on the network table, or one that failed without it
	git     bool // some command is git
	// beside says that some command neither needs the network nor only reads.
	beside bool
	// missed says that the very same command failed for want of the network.
	missed bool
	// again says that this alone is why the call is asked about.
	again bool
	// approved says that a person has seen the card and allowed the call.
	approved bool
}

// note adds what the command judge found.
func (w *reaches) note(v command.Verdict) {
	w.network = w.network || v.Network
	for _, part := range v.Parts {
		w.beside = w.beside || !part.Network && part.Action != capability.Allow
		if len(part.Argv) > 0 && path.Base(part.Argv[0]) == "git" {
			w.git = true
		}
	}
}

// offline are the commands of a session that failed for want of the network, by
// their text and directory. The zero value is ready.
type offline struct {
	mu    sync.Mutex
	texts map[string]bool // true once the person has opened the network to it for good
}

func key(resource tools.Resource) string { return resource.Dir + "\x00" + resource.Value }

func (o *offline) add(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.texts == nil {
		o.texts = map[string]bool{}
	}
	o.texts[key] = o.texts[key] || false
}

func (o *offline) open(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, missed := o.texts[key]; missed {
		o.texts[key] = true
	}
}

func (o *offline) has(key string) (missed, open bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	open, missed = o.texts[key]
	return missed, open
}

// missedReason is why a command is asked about that would otherwise just run.
const missedReason = "it failed without the network, which it gets when it is allowed"

// besideReason is why commands are asked about that are each allowed by themselves.
const besideReason = "one of the commands was allowed with the network, and the others would get it with them"

// wantNetwork makes a question of a command that failed for want of the network and
// is sent again, and of one that would get the network from another beside it (S4).
// Where nobody can be asked, it runs as before: without; so does that of a restricted
// agent, which has the network in no case.
func (r *running) wantNetwork() {
	if r.pipeline.Asker == nil || r.pipeline.restricted {
		return
	}
	if r.reach.network && r.reach.beside && r.decision.Action == capability.Allow && r.answeredBefore() {
		r.decision.Action, r.decision.Reason = capability.Ask, besideReason
	}
	for _, resource := range r.commands() {
		missed, open := r.pipeline.offline.has(key(resource))
		if !missed {
			continue
		}
		r.reach.network, r.reach.missed = true, true
		if !open && r.decision.Action == capability.Allow {
			r.decision.Action, r.decision.Reason = capability.Ask, missedReason
			r.reach.again = true
			if !r.mayStayOpen() {
				r.decision.NoAlways = "what it runs is not known whole"
			}
		}
	}
}

// mayStayOpen reports whether an "always" may open the network to the very same commands
// from now on: none of them is one of which nothing is ever stored (E5).
func (r *running) mayStayOpen() bool {
	return r.reach.again && !slices.ContainsFunc(r.judged.Resources, func(resource permissions.Resource) bool {
		judged := resource.Judged
		return resource.Dynamic || judged != nil && judged.Action != capability.Allow && len(judged.Always) == 0
	})
}

// commands are the commands that the call runs.
func (r *running) commands() []tools.Resource {
	var commands []tools.Resource
	for _, resource := range r.resources() {
		if resource.Kind == tools.Command {
			commands = append(commands, resource)
		}
	}
	return commands
}

// grantWalls tells the call's commands how far they may reach. A command has the
// network when a person allowed it on a card that said so, now or, by "always",
// before for this session or project; a program has it when its tool declares it.
func (r *running) grantWalls() {
	grant := workspace.Grant{
		Network:   !r.entry.Requires.Net.IsZero(),
		GitConfig: r.reach.git && !r.readsOnly,
		Unasked:   r.decision.Sandboxed && !r.reach.approved,
		ReadsOnly: r.readsOnly || r.entry.ReadOnly, Unattended: r.pipeline.Asker == nil || r.pipeline.restricted,
		Offline: r.pipeline.restricted,
	}
	if commands := r.commands(); len(commands) > 0 {
		grant.Network = r.reach.network && (r.reach.approved || !r.reach.beside && r.answeredBefore())
		for _, resource := range commands {
			_, open := r.pipeline.offline.has(key(resource))
			grant.Network = grant.Network || open
		}
	}
	r.runtime.Grant(grant)
}

// answeredBefore reports whether the person has allowed before, by a rule of theirs for
// this session or an answer that was kept, each part of the commands that needs the
// network. What stands beside such a part says nothing about it.
func (r *running) answeredBefore() bool {
	rules, some := r.pipeline.Policy.Rules(), false
	for _, resource := range r.judged.Resources {
		if resource.Judged == nil || !resource.Judged.Network {
			continue
		}
		part := r.judged
		part.Resources = []permissions.Resource{resource}
		d := rules.Decide(part)
		if d.Action != capability.Allow || d.Rule == nil || d.Scope != permissions.Session && d.Rule.Source != permissions.SourceAlways {
			return false
		}
		some = true
	}
	return some
}

// noteOffline remembers a command that failed for want of the network.
func (r *running) noteOffline() {
	if !r.runtime.WantedNetwork() {
		return
	}
	for _, resource := range r.commands() {
		r.pipeline.offline.add(key(resource))
	}
}

// openAlways opens the network for good to commands that failed without it.
func (r *running) openAlways() {
	if !r.reach.missed {
		return
	}
	for _, resource := range r.commands() {
		r.pipeline.offline.open(key(resource))
	}
}

// sandbox says on the card what the call's commands will be confined by (O1).
func (r *running) sandbox(ctx context.Context) string {
	if !r.unpredictable() {
		return ""
	}
	report, open, err := r.pipeline.Workspace.Sandbox(ctx)
	switch {
	case err != nil:
		return ""
	case !report.Confines():
		return report.String()
	case r.pipeline.restricted && report.Network:
	case open || r.reach.network || len(r.commands()) == 0 && !r.entry.Requires.Net.IsZero():
		return string(report.Kind) + ", network on"
	}
	return string(report.Kind) + ", network off"
}
