package session

import (
	"context"
	"time"

	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/transcript"
)

// decideWait is how long the answer to a choice of auto waits for the trial of the
// sandbox, which takes a fraction of that.
const decideWait = 3 * time.Second

const undecided = "it is still being found out whether this machine has a sandbox"

// postponeAuto reports whether an option is the choice of the mode auto while it is not
// known whether it can be had, and notes that choice: [Session.Decide] waits for the decision.
func (c *choices) postponeAuto(option, value string) bool {
	if option != ModeOption || value != string(permissions.ModeAuto) {
		return false
	}
	if _, known := c.sandbox.Known(); known || c.expectsAuto() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byClient = c.byClient || c.pending == ""
	c.pending = permissions.ModeAuto
	return true
}

// expectsAuto reports whether the finding that is expected allows the mode auto.
func (c *choices) expectsAuto() bool {
	report, expected := c.sandbox.Expected()
	return expected && c.noAuto(report) == ""
}

// Decide waits until a choice that SetOption took is decided: that of the mode auto
// depends on the trial of the sandbox. Where that finds none, or takes too long, its
// error says so, and the mode stays as it is. Every other choice is decided at once.
func (c *choices) Decide(ctx context.Context, option, value string) error {
	if option != ModeOption || value != string(permissions.ModeAuto) {
		return nil
	}
	report, known := c.sandbox.Known()
	why := undecided
	switch {
	case known:
		why = c.noAuto(report)
	case c.expectsAuto():
		why = ""
	default:
		waiting, cancel := context.WithTimeout(ctx, decideWait)
		defer cancel()
		if report, err := c.sandbox.Wait(waiting); err == nil {
			c.resolveMode(report)
			why = c.noAuto(report)
		} else {
			c.dropClientsAuto()
		}
	}
	if why == "" {
		return nil
	}
	var legal []string
	for _, mode := range c.Modes() {
		if mode.ID != value {
			legal = append(legal, mode.ID)
		}
	}
	return &BadValueError{What: "Mode", Got: value, Legal: legal, Why: why}
}

// dropClientsAuto forgets that the client chose auto; the configured mode stays pending.
func (c *choices) dropClientsAuto() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byClient {
		c.pending, c.byClient = "", false
	}
}

// AwaitMode waits until it is known how processes are confined, and with it which
// modes there are and whether a session whose configured mode is auto begins in
// it. Its error is that of ctx.
func (c *choices) AwaitMode(ctx context.Context) error {
	report, err := c.sandbox.Wait(ctx)
	if err == nil {
		c.resolveMode(report)
	}
	return err
}

// ModePending reports whether the mode depends on what AwaitMode waits for, or has not yet
// followed it.
func (c *choices) ModePending() bool {
	mode := c.get().mode
	c.mu.Lock()
	pending := c.pending
	c.mu.Unlock()
	return pending != "" || mode == permissions.ModeAuto && c.enforced() != mode
}

// resolveMode applies what was found out about a sandbox. A session that waits for auto is
// in it from now on, unless the user has chosen another mode meanwhile. Without a
// sandbox, one that is in auto because a sandbox was expected falls back to ask, and a
// warning says so; the client's own choice is answered instead (Decide). It reports
// whether the mode was changed.
func (c *choices) resolveMode(report sandbox.Report) bool {
	why := c.noAuto(report)
	c.mu.Lock()
	pending, chose, was := c.pending, c.byClient, c.current.mode
	c.pending, c.byClient = "", false
	switch {
	case why == "" && pending != "":
		c.changeMode(pending)
	case why != "" && was == permissions.ModeAuto:
		c.changeMode(permissions.ModeAsk)
	}
	if why != "" && c.current.before == permissions.ModeAuto {
		c.current.before = permissions.ModeAsk
	}
	now := c.current.mode
	c.mu.Unlock()
	if now != was || now == permissions.ModeAuto {
		c.modeChanged()
	}
	switch {
	case why == "":
	case was == permissions.ModeAuto:
		notice := autoNotice("The mode auto, which this machine allowed before, is not available", why)
		c.notices.once(notice.Text, notice)
	case pending != "" && !chose:
		notice := autoNotice("The configured mode auto is not available", why)
		c.notices.once(notice.Text, notice)
	}
	return now != was
}

// announceSandbox notifies the client, when it becomes known, how processes are confined, and
// whether there is the mode auto.
func (c *choices) announceSandbox() {
	if c.sandboxFound {
		return
	}
	c.life.start(func() {
		report, err := c.sandbox.Wait(c.life.ctx)
		if err != nil {
			return
		}
		c.emit(transcript.SandboxFound{})
		if c.resolveMode(report) {
			c.emit(transcript.ModeChanged{ModeID: c.Mode()})
			return
		}
		c.emit(transcript.OptionsChanged{})
	})
}

// awaitMode keeps a turn in auto, or of a session that waits for auto, until it is known
// whether it can be had.
func (c *choices) awaitMode(ctx context.Context) {
	if !c.ModePending() {
		return
	}
	report, err := c.sandbox.Wait(ctx)
	if err == nil && c.resolveMode(report) {
		c.emit(transcript.ModeChanged{ModeID: c.Mode()})
	}
}
