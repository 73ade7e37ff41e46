package pipeline

import (
	"acp-agent/capability"
	"acp-agent/permissions/command"
	"acp-agent/workspace/run"
)

// reach is what the commands of a call need beyond the default sandbox, as the judge of
// commands found it.
type reach struct {
	*underway
	// readsOnly says that the command judge found nothing but reading.
	readsOnly bool
	// machine says that the commands show the machine, and run outside of the sandbox for that.
	machine bool
	// hidesObjects says that a command must not read what git keeps of the content of files.
	hidesObjects bool
	// texts are what runs in the place of commands, settings the variables of those.
	texts    []judgedText
	settings []string

	network   bool // of a command on the network table, or one that failed without it
	gitConfig bool // some command of git may write the configuration of a repository
	// others says that the call also has commands that neither need the network nor only read.
	others bool
	// missed is what the very same command failed for want of.
	missed run.Shortage
	// outside says that the user is offered to let the call run outside of the sandbox, and
	// leaves that they did.
	outside, leaves bool
	// secrets are what a command that only reads must not read; unconfined says that
	// nothing keeps it from more.
	secrets    *run.SecretFiles
	unconfined bool
	// openSecrets counts the files of secrets that cannot be hidden from a command that does more
	// than read.
	openSecrets int
	// retried says that the call is asked about only because the command failed before.
	retried bool
	// reads are the paths that the commands are known to read, and where they lead.
	reads []string
	// approved says that a user has seen the card and allowed the call.
	approved bool
}

// reset clears everything but what the user has allowed.
func (r *reach) reset() { *r = reach{underway: r.underway, approved: r.approved, leaves: r.leaves} }

// note adds what the command judge found.
func (r *reach) note(v command.Verdict) {
	r.network = r.network || v.Network
	r.hidesObjects = r.hidesObjects || v.HidesObjects
	for _, part := range v.Parts {
		r.reads = append(r.reads, part.Reads...)
		r.others = r.others || !part.Network && part.Action != capability.Allow
		r.gitConfig = r.gitConfig || part.GitConfig
		r.outside = r.outside || part.ReachesOut()
	}
}

// othersReason is why commands are asked about that are each allowed by themselves.
const othersReason = "one of the commands was allowed with the network, and the others would get it with them"

// reading reports whether the call's commands run because they only read: no user has
// allowed more to them, now or for good.
func (r *reach) reading() bool {
	return r.readsOnly && !r.approved && r.grantedBefore() == run.Shortage{}
}

// showsMachine reports that the call's commands run outside of the sandbox because they show the
// machine, and only that: no user has allowed more to them.
func (r *reach) showsMachine() bool { return r.machine && r.reading() }

// readable is what the commands read outside the session's directories, where the user has
// allowed it on a card that named it: the sandbox must not hide it from them then. A
// directory stays hidden when it holds secrets, or is too large to be looked through. So
// does what a path leads to that led elsewhere when it was judged: the card has not named
// that (E6).
func (r *reach) readable() []string {
	if !r.approved {
		return nil
	}
	var shown []string
	for _, path := range r.reads {
		if r.pipeline.Workspace.Shown(path) == path {
			shown = append(shown, path)
		}
	}
	return shown
}
