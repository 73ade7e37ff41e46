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
	unconfined, open atomic.Bool
	// ignoredArgs holds, by tool, the arguments that the model knows to have no effect.
	ignoredArgs sync.Map
}

// noticeUnconfined tells the user, at the first question of that kind, that nothing confines
// the session's commands.
func (r *reach) noticeUnconfined() {
	if !r.unconfined || r.pipeline.notices.unconfined.Swap(true) {
		return
	}
	report, _ := r.pipeline.Workspace.Runner().SandboxKnown()
	r.sink.Emit(transcript.Notice{Severity: transcript.Warning, Title: "No sandbox", Text: unconfinedText(report)})
}

// noticeOpen tells the user, at the first command of that kind, that more files hold secrets
// than can be hidden from it.
func (r *reach) noticeOpen() {
	if !r.secretsOpen() || r.pipeline.notices.open.Swap(true) {
		return
	}
	text := fmt.Sprintf("%d files of secrets in the session's directories are not hidden from commands that do more than read: there are more than can be hidden without making each command slow.", r.openSecrets)
	r.sink.Emit(transcript.Notice{Severity: transcript.Warning, Title: "Secrets in reach of commands", Text: text})
}

func unconfinedText(report sandbox.Report) string {
	text := "Nothing confines the commands of this session, so only a few that plainly only read run without a question (ls, cat, grep, git status and the like)."
	for _, note := range report.Notes {
		text += " " + note
	}
	return text
}
