package pipeline

import (
	"fmt"
	"sync"
	"sync/atomic"

	"acp-agent/sandbox"
	"acp-agent/transcript"
)

// notices records which notices a session has seen, so that each appears once. The zero value is ready.
type notices struct {
	noSandbox, openSecrets atomic.Bool
	// ignoredArgs holds, by tool, the arguments that the model knows to have no effect.
	ignoredArgs sync.Map
}

// noticeNoSandbox tells the user, with the first question that has this reason, that nothing
// confines the session's commands.
func (a *commandAccess) noticeNoSandbox() {
	if !a.noSandbox || a.pipeline.notices.noSandbox.Swap(true) {
		return
	}
	report, _ := a.pipeline.Workspace.Runner().SandboxKnown()
	a.sink.Emit(transcript.Notice{Severity: transcript.Warning, Title: "No sandbox", Text: noSandboxText(report)})
}

// noticeOpenSecrets tells the user, with the first command that can read them, that more files hold
// secrets than can be hidden.
func (a *commandAccess) noticeOpenSecrets() {
	if !a.secretsOpen() || a.pipeline.notices.openSecrets.Swap(true) {
		return
	}
	text := fmt.Sprintf("%d files of secrets in the session's directories are not hidden from commands that do more than read: there are more than can be hidden without making each command slow.", a.openSecrets)
	a.sink.Emit(transcript.Notice{Severity: transcript.Warning, Title: "Secrets in reach of commands", Text: text})
}

func noSandboxText(report sandbox.Report) string {
	text := "Nothing confines the commands of this session, so only a few that plainly only read run without a question (ls, cat, grep, git status and the like)."
	for _, note := range report.Notes {
		text += " " + note
	}
	return text
}
