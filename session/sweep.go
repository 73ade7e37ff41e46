package session

import (
	"context"
	"time"

	"acp-agent/audit"
	"acp-agent/internal/cgroup"
	"acp-agent/internal/pause"
	"acp-agent/store"
	"acp-agent/workspace"
)

// Sweep removes, in the background, what sessions of killed processes left: their
// directories (R107), and the cgroups of their commands.
func (h *Host) Sweep() {
	h.background.start(func(context.Context) {
		if removed := cgroup.System().Sweep(); removed > 0 {
			h.Logger.Info("removed cgroups of killed commands", "removed", removed)
		}
		h.Box.Sweep()
		if removed, err := workspace.Sweep(h.StateDir); err != nil || removed > 0 {
			h.Logger.Info("swept leftovers of killed sessions", "removed", removed, "error", err)
		}
	})
}

// SweepStore removes, in the background, conversations that are old or too many.
func (h *Host) SweepStore(limits store.Limits) {
	h.afterDelay(func(ctx context.Context) {
		if swept, err := h.Store.Sweep(ctx, limits); err != nil || swept.Sessions > 0 {
			h.Logger.Info("swept stored conversations", "removed", swept.Sessions, "error", err)
		}
	})
}

// SweepAudit removes, in the background, the records of sessions that were not written
// to for a time.
func (h *Host) SweepAudit(dir string, keep time.Duration) {
	h.afterDelay(func(context.Context) {
		if removed, err := audit.Sweep(dir, time.Now().Add(-keep)); err != nil || removed > 0 {
			h.Logger.Info("swept old audits", "removed", removed, "error", err)
		}
	})
}

// sweepDelay leaves processor and disk to the first requests, before a sweep looks at thousands of
// files. A process that ends earlier leaves the work to the next one.
const sweepDelay = time.Second

// afterDelay runs work in the background, after sweepDelay, until Close ends its ctx.
func (h *Host) afterDelay(work func(ctx context.Context)) {
	h.background.start(func(ctx context.Context) {
		if pause.For(ctx, sweepDelay) == nil {
			work(ctx)
		}
	})
}
