package session

import (
	"context"
	"time"

	"acp-agent/audit"
	"acp-agent/internal/pause"
	"acp-agent/store"
	"acp-agent/transcript"
)

// openAudit makes the session's record; nil when none is kept. It touches no disk.
func (s *Session) openAudit() *audit.Log {
	if s.settings.Audit.Dir == "" {
		return nil
	}
	return audit.New(audit.Options{
		Dir: s.settings.Audit.Dir, Session: s.ID, MaxBytes: s.settings.Audit.MaxBytes, Clean: s.host.Redact, Failed: s.auditFailed,
	})
}

// auditFailed says, once, that calls are not recorded. They run all the same.
func (s *Session) auditFailed(err error) {
	s.host.Logger.Warn("the audit cannot be written", "session", s.ID, "error", err.Error())
	text := "What the agent does in this session is not recorded: " + err.Error()
	s.conversation.notices.once("audit", transcript.Notice{Severity: transcript.Warning, Title: "Audit", Text: text})
}

// closeAudit ends the record.
func (s *Session) closeAudit() {
	if err := s.rules.audit.Close(); err != nil {
		s.host.Logger.Warn("the audit cannot be closed", "session", s.ID, "error", err.Error())
	}
}

// SweepStore removes, in the background, conversations that are old or too many.
func (h *Host) SweepStore(limits store.Limits) {
	h.tidy(func(ctx context.Context) {
		if swept, err := h.Store.Sweep(ctx, limits); err != nil || swept.Sessions > 0 {
			h.Logger.Info("swept stored conversations", "removed", swept.Sessions, "error", err)
		}
	})
}

// SweepAudit removes, in the background, the records of sessions that were not written
// to for a time.
func (h *Host) SweepAudit(dir string, keep time.Duration) {
	h.tidy(func(context.Context) {
		if removed, err := audit.Sweep(dir, time.Now().Add(-keep)); err != nil || removed > 0 {
			h.Logger.Info("swept old audits", "removed", removed, "error", err)
		}
	})
}

// tidyDelay is how long what looks at thousands of files leaves processor and disk to the first
// requests. A process that ends before leaves the work to the next one.
const tidyDelay = time.Second

// tidy runs work in the background, after tidyDelay. Close ends it, and waits for its end.
func (h *Host) tidy(work func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	h.catalogue.onClose(cancel)
	h.catalogue.working.Go(func() {
		defer cancel()
		if pause.For(ctx, tidyDelay) == nil {
			work(ctx)
		}
	})
}
