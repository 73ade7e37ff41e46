package session

import (
	"acp-agent/audit"
	"acp-agent/transcript"
)

// newAudit returns the log of the session's calls (R129); nil when none is kept. It touches no disk.
// When calls cannot be recorded later, a notice says so once, and the calls run.
func newAudit(o opened, c *conversation) *audit.Log {
	if o.settings.Audit.Dir == "" {
		return nil
	}
	failed := func(err error) {
		o.host.Logger.Warn("the audit cannot be written", "session", o.ID, "error", err.Error())
		text := "What the agent does in this session is not recorded: " + err.Error()
		o.noticeProblem(c, "audit", transcript.Notice{Severity: transcript.Warning, Title: "Audit", Text: text})
	}
	return audit.New(audit.Options{
		Dir: o.settings.Audit.Dir, Session: o.ID, MaxBytes: o.settings.Audit.MaxBytes, Clean: o.host.Redact, Failed: failed,
	})
}
