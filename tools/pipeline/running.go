package pipeline

import (
	"time"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// running is a call on its way through the stages of Run.
type running struct {
	*Prepared
	pipeline *Pipeline
	sink     transcript.Sink
	started  time.Time
	card     kinds.Card
	// dryRun says that the call is only explained: nothing is asked or started for it.
	dryRun bool
	// remotes says that the call shows the configuration of a repository.
	remotes bool

	judgement
	execution
}

// judgement is what the stages up to the question find out about a call.
type judgement struct {
	// found says where each path led at the capability check, by absolute path.
	found map[string]string
	// outside are reads outside the session's directories, links what is said of paths to be
	// changed that lead elsewhere.
	outside []workspace.Access
	links   []string
	// judged is the call as rules see it, decision their answer.
	judged   permissions.Call
	decision permissions.Decision
	// trusted says that the user trusts the project as it is.
	trusted bool
	// readsOnly says that the command judge found nothing but reading.
	readsOnly bool
	// texts are what runs in the place of commands, settings the variables of those.
	texts    []judgedText
	settings []string
	reach    reach
	// watchdogReason is why the watchdog wants the user asked; "" when it does not.
	watchdogReason string
	// asked is what the user was asked, answer what they said; "" without a question.
	asked, answer string
}

// execution is what the later stages make of a call.
type execution struct {
	scope   capability.Compiled
	runtime *callRuntime
	result  *tools.Result
	// shown is the result written out.
	shown *shown
	// notScanned says where a command's changes were not looked for.
	notScanned string
	// connections are what its commands may connect to.
	connections connections
}
