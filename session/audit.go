package session

import (
	"context"
	"time"

	"acp-agent/audit"
	"acp-agent/internal/pause"
	"acp-agent/store"
	"acp-agent/transcript"
)

// newAudit makes the session's record; nil when none is kept. It touches no disk. When calls cannot
// be recorded, it says so, once; they run all the same.
func newAudit(o opened, notices *notices) *audit.Log {
	if o.settings.Audit.Dir == "" {
		return nil
	}
	failed := func(err error) {
		o.host.Logger.Warn("the audit cannot be written", "session", o.ID, "error", err.Error())
		text := "What the agent does in this session is not recorded: " + err.Error()
		notices.once("audit", transcript.Notice{Severity: transcript.Warning, Title: "Audit", Text: text})
	}
	return audit.New(audit.Options{
		Dir: o.settings.Audit.Dir, Session: o.ID, MaxBytes: o.settings.Audit.MaxBytes, Clean: o.host.Redact, Failed: failed,
	})
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
