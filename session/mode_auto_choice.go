package session

import (
	"context"
	"time"

	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/transcript"
)

// decideWait is how long the answer to a choice of auto waits for the trial of the sandbox, which
// usually takes a fraction of it.
const decideWait = 3 * time.Second

const stillTrying = "it is still being found out whether this machine has a sandbox"

// postponeAuto notes a choice of the mode auto that cannot be decided before the trial of the sandbox
// ends, and reports whether it did. [Session.Decide] waits for the decision.
func (m *modes) postponeAuto(mode string) bool {
	if mode != string(permissions.ModeAuto) {
		return false
	}
	if _, known := m.sandbox.Known(); known || m.expectsAuto() {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byClient = m.byClient || m.pending == ""
	m.pending = permissions.ModeAuto
	return true
}

// expectsAuto reports whether the expected finding about the sandbox allows the mode auto.
func (m *modes) expectsAuto() bool {
	report, expected := m.sandbox.Expected()
	return expected && m.noAuto(report) == ""
}

// decide waits until a choice of a mode is decided: auto depends on the trial of the sandbox, any
// other mode is decided at once. Where the trial finds no sandbox, or takes too long, the error says
// so, and the mode stays as it is.
func (m *modes) decide(ctx context.Context, value string) error {
	if value != string(permissions.ModeAuto) {
		return nil
	}
	report, known := m.sandbox.Known()
	why := stillTrying
	switch {
	case known: // perhaps only since the choice was postponed
		m.resolve(report)
		why = m.noAuto(report)
	case m.expectsAuto():
		why = ""
	default:
		waiting, cancel := context.WithTimeout(ctx, decideWait)
		defer cancel()
		if report, err := m.sandbox.Wait(waiting); err == nil {
			m.resolve(report)
			why = m.noAuto(report)
		} else {
			m.dropClientsAuto()
		}
	}
	if why == "" {
		return nil
	}
	var legal []string
	for _, mode := range m.list() {
		if mode.ID != value {
			legal = append(legal, mode.ID)
		}
	}
	return &BadValueError{What: "Mode", Got: value, Legal: legal, Why: why}
}

// dropClientsAuto forgets that the client chose auto; the configured mode stays pending.
func (m *modes) dropClientsAuto() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byClient {
		m.pending, m.byClient = "", false
	}
}

// awaitSandbox waits for the trial of the sandbox, which decides which modes there are and whether a
// session whose configured mode is auto starts in it. Its error is that of ctx.
func (m *modes) awaitSandbox(ctx context.Context) error {
	report, err := m.sandbox.Wait(ctx)
	if err == nil {
		m.resolve(report)
	}
	return err
}

// undecided reports whether the mode depends on what awaitSandbox waits for, or has not yet
// followed it.
func (m *modes) undecided() bool {
	mode := m.now()
	m.mu.Lock()
	pending := m.pending
	m.mu.Unlock()
	return pending != "" || mode == permissions.ModeAuto && m.enforced() != mode
}

// resolve applies the finding about the sandbox, and reports whether that changed the mode. With a
// sandbox, a session that waits for auto changes to it, unless the user has chosen another mode
// meanwhile. Without one, a session that is in auto because a sandbox was expected falls back to ask.
// A warning says so when the configuration asked for auto; a choice of the client is answered by
// decide.
func (m *modes) resolve(report sandbox.Report) bool {
	why := m.noAuto(report)
	m.mu.Lock()
	pending, byClient, was := m.pending, m.byClient, m.current
	m.pending, m.byClient = "", false
	switch {
	case why == "" && pending != "":
		m.setLocked(pending)
	case why != "" && was == permissions.ModeAuto:
		m.setLocked(permissions.ModeAsk)
	}
	if why != "" && m.before == permissions.ModeAuto {
		m.before = permissions.ModeAsk
	}
	now := m.current
	m.mu.Unlock()
	if now != was || now == permissions.ModeAuto {
		m.changed()
	}
	switch {
	case why == "":
	case was == permissions.ModeAuto:
		notice := autoNotice("The mode auto, which this machine allowed before, is not available", why)
		m.notices.once(notice.Text, notice)
	case pending != "" && !byClient:
		notice := autoNotice("The configured mode auto is not available", why)
		m.notices.once(notice.Text, notice)
	}
	return now != was
}

// announceSandbox notifies the client when the trial of the sandbox ends, which decides whether there
// is the mode auto. It does nothing when the session started after the trial.
func (m *modes) announceSandbox() {
	if m.knownAtStart {
		return
	}
	m.life.start(func() {
		report, err := m.sandbox.Wait(m.life.ctx)
		if err != nil {
			return
		}
		m.emit(transcript.SandboxFound{})
		if m.resolve(report) {
			m.emit(transcript.ModeChanged{ModeID: string(m.now())})
			return
		}
		m.emit(transcript.OptionsChanged{})
	})
}

// await keeps a turn back while its mode depends on the trial of the sandbox.
func (m *modes) await(ctx context.Context) {
	if !m.undecided() {
		return
	}
	report, err := m.sandbox.Wait(ctx)
	if err == nil && m.resolve(report) {
		m.emit(transcript.ModeChanged{ModeID: string(m.now())})
	}
}
