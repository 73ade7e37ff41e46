package pipeline

import (
	"cmp"

	"acp-agent/capability"
	"acp-agent/permissions/command"
	"acp-agent/sandbox"
	"acp-agent/workspace/run"
)

// commandAccess is what the commands of a call may reach: what the command judge found that they
// do, what they lacked when they ran before, and what the user allowed. See sandboxing.grant, which
// makes the rights of the sandbox out of it.
type commandAccess struct {
	*sharedState

	// What the command judge found.

	// readsOnly says that every command only reads.
	readsOnly bool
	// machineOnly says that every command only shows the machine, which it has to do outside of
	// the sandbox.
	machineOnly bool
	// hidesObjects says that a command must not read what git keeps of the content of files.
	hidesObjects bool
	// hidesAddresses says that a command must not read what git keeps of passwords in addresses.
	hidesAddresses bool
	// texts run in the place of commands, with settings as their variables.
	texts    []judgedText
	settings []string
	// reads are the paths that the commands are known to read, with links resolved.
	reads []string
	// network says that a command needs the network: the judge found it, or the command failed
	// without it before.
	network bool
	// othersWithoutNetwork says that the call has further commands, which neither need the
	// network nor only read.
	othersWithoutNetwork bool
	// gitHub says that a command is gh, which has to log in; besideGitHub, that something else of the call would have
	// the login, too.
	gitHub, besideGitHub bool
	// gitHubInstead is what to run in its place, see command.Verdict.
	gitHubInstead string
	// gitHubDirs are the directories whose repositories gh pr or gh issue is for; gitHubElsewhere says that gh is
	// for others, too.
	gitHubDirs      []string
	gitHubElsewhere bool
	// gitConfig says that a git command may write the configuration of a repository.
	gitConfig bool
	// mayOfferOutside says that the card may offer to run the call outside of the sandbox.
	mayOfferOutside bool

	// What the same commands lacked when they ran before.

	// missed is what a command failed for want of.
	missed run.Shortage
	// asksForMissed says that the commands are asked about only to grant them what they missed.
	asksForMissed bool

	// What must be hidden from the commands.

	// secrets must be hidden from commands that only read.
	secrets *run.SecretFiles
	// openSecrets counts the secret files that cannot be hidden from commands that do more.
	openSecrets int
	// noSandbox says that the commands are asked about because no sandbox holds them to reading.
	noSandbox bool

	// What the user decided.

	// closed are directories outside that commands do not see although they may read them, each with the reason.
	closed []string
	// approved says that the user has seen the card and allowed the call.
	approved bool
	// runsOutside says that the user chose to run the call outside of the sandbox.
	runsOutside bool
}

// reset clears everything but the user's decisions.
func (a *commandAccess) reset() {
	*a = commandAccess{sharedState: a.sharedState, approved: a.approved, runsOutside: a.runsOutside}
}

// addVerdict adds what the command judge found about one command.
func (a *commandAccess) addVerdict(v command.Verdict) {
	a.network = a.network || v.Network
	a.hidesObjects = a.hidesObjects || v.HidesObjects
	a.hidesAddresses = a.hidesAddresses || v.HidesAddresses
	a.gitHub, a.besideGitHub = a.gitHub || v.GitHub, a.besideGitHub || !v.GitHubAlone
	a.gitHubInstead = cmp.Or(a.gitHubInstead, v.GitHubInstead)
	a.gitHubElsewhere = a.gitHubElsewhere || v.GitHubElsewhere
	for _, part := range v.Parts {
		a.reads = append(a.reads, part.Reads...)
		a.othersWithoutNetwork = a.othersWithoutNetwork || !part.Network && part.Action != capability.Allow
		a.gitConfig = a.gitConfig || part.GitConfig
		a.mayOfferOutside = a.mayOfferOutside || part.ReachesOut()
	}
}

// heldToReading reports whether the commands run only because they only read. They get no other
// access then. It is false as soon as the user has allowed more, for this call or for the session.
func (a *commandAccess) heldToReading() bool {
	return a.readsOnly && !a.approved && a.grantedBefore() == run.Shortage{}
}

// showsMachine reports whether the commands run outside of the sandbox because all they do is show
// the machine.
func (a *commandAccess) showsMachine() bool { return a.machineOnly && a.heldToReading() }

// readableOutside returns the paths outside the session's directories that the sandbox must not hide,
// because the user has allowed to read them, on a card that named them or by an answer that opened a directory, and the
// what is to be hidden in them. A directory that is too large to search for secrets, or holds some that this kind of sandbox cannot
// hide, stays hidden. So does a path that
// leads elsewhere by now, because the card did not name that place (E6).
func (a *commandAccess) readableOutside() (outside run.Outside) {
	if !a.approved && !a.pipeline.Workspace.Opened() {
		return run.Outside{}
	}
	report, _ := a.pipeline.Workspace.Runner().SandboxKnown()
	hides := hidesSecrets(report)
	a.closed = nil
	for _, path := range a.reads {
		as := a.pipeline.Workspace.Shown(path)
		hidesObjects, hidesAddresses := a.hidesObjects && a.heldToReading(), a.hidesAddresses && a.heldToReading()
		switch {
		case !a.approved && !as.Opened:
		case as.Closed != "":
			a.closed = append(a.closed, path+", since "+as.Closed)
		case as.IsObject && !a.approved:
			a.closed = append(a.closed, path+", where git keeps the content of files")
		case as.Path != path:
		case !hides && (len(as.Secrets) > 0 || hidesObjects && len(as.Objects) > 0 || hidesAddresses && len(as.Addresses) > 0):
			a.closed = append(a.closed, path+", since this kind of sandbox cannot hide the secrets in it one by one")
		default:
			outside.Readable = append(outside.Readable, sandbox.File{Path: path, Info: as.Info})
			outside.Secrets, outside.Objects = append(outside.Secrets, as.Secrets...), append(outside.Objects, as.Objects...)
			outside.Addresses = append(outside.Addresses, as.Addresses...)
		}
	}
	return outside
}
