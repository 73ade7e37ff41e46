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

// choosesAuto reports whether an option is the choice of the mode auto while it is not
// known whether it can be had, and notes that choice: [Session.Decide] waits for the end.
func (s *Session) choosesAuto(option, value string) bool {
	if option != ModeOption || value != string(permissions.ModeAuto) {
		return false
	}
	if _, known := s.host.Sandbox.Known(); known || s.expectsAuto() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chose = s.chose || s.wanted == ""
	s.wanted = permissions.ModeAuto
	return true
}

// expectsAuto reports whether the finding that is expected allows the mode auto.
func (s *Session) expectsAuto() bool {
	report, expected := s.host.Sandbox.Expected()
	return expected && s.noAuto(report) == ""
}

// Decide waits until a choice that SetOption took is decided: that of the mode auto
// depends on the trial of the sandbox. Where that finds none, or takes too long, its
// error says so, and the mode stays as it is. Every other choice is decided at once.
func (s *Session) Decide(ctx context.Context, option, value string) error {
	if option != ModeOption || value != string(permissions.ModeAuto) {
		return nil
	}
	report, known := s.host.Sandbox.Known()
	why := undecided
	switch {
	case known:
		why = s.noAuto(report)
	case s.expectsAuto():
		why = ""
	default:
		waiting, cancel := context.WithTimeout(ctx, decideWait)
		defer cancel()
		if report, err := s.host.Sandbox.Wait(waiting); err == nil {
			s.settleMode(report)
			why = s.noAuto(report)
		} else {
			s.giveUpChoice()
		}
	}
	if why == "" {
		return nil
	}
	var legal []string
	for _, mode := range s.Modes() {
		if mode.ID != value {
			legal = append(legal, mode.ID)
		}
	}
	return &BadValueError{What: "Mode", Got: value, Legal: legal, Why: why}
}

// giveUpChoice forgets that the client chose auto; what is configured stays wanted.
func (s *Session) giveUpChoice() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chose {
		s.wanted, s.chose = "", false
	}
}

// Settle waits until it is known how processes are confined, and with it which
// modes there are and whether a session whose configured mode is auto begins in
// it. Its error is that of ctx.
func (s *Session) Settle(ctx context.Context) error {
	report, err := s.host.Sandbox.Wait(ctx)
	if err == nil {
		s.settleMode(report)
	}
	return err
}

// Unsettled reports whether the mode depends on what Settle waits for, or has not yet
// followed it.
func (s *Session) Unsettled() bool {
	mode := s.chosen().mode
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	return wanted != "" || mode == permissions.ModeAuto && s.enforced() != mode
}

// settleMode heeds what was found out about a sandbox. A session that waits for auto is
// in it from now on, unless the user has chosen another mode meanwhile. Without a
// sandbox, one that is in auto because a sandbox was expected falls back to ask, and a
// warning says so; the client's own choice is answered instead (Decide). It reports
// whether the mode was changed.
func (s *Session) settleMode(report sandbox.Report) bool {
	why := s.noAuto(report)
	s.mu.Lock()
	wanted, chose, was := s.wanted, s.chose, s.choice.mode
	s.wanted, s.chose = "", false
	switch {
	case why == "" && wanted != "":
		s.changeMode(wanted)
	case why != "" && was == permissions.ModeAuto:
		s.changeMode(permissions.ModeAsk)
	}
	if why != "" && s.choice.before == permissions.ModeAuto {
		s.choice.before = permissions.ModeAsk
	}
	now := s.choice.mode
	s.mu.Unlock()
	if now != was || now == permissions.ModeAuto {
		s.applyMode()
	}
	switch {
	case why == "":
	case was == permissions.ModeAuto:
		notice := autoNotice("The mode auto, which this machine allowed before, is not available", why)
		s.sayOnce(notice.Text, notice)
	case wanted != "" && !chose:
		notice := autoNotice("The configured mode auto is not available", why)
		s.sayOnce(notice.Text, notice)
	}
	return now != was
}

// awaitSandbox announces what is found out about a sandbox after the session was
// opened, and the mode auto with it.
func (s *Session) awaitSandbox() {
	if s.found {
		return
	}
	s.life.start(func() {
		report, err := s.host.Sandbox.Wait(s.life.ctx)
		if err != nil {
			return
		}
		s.spec.Sink.Emit(transcript.SandboxFound{})
		if s.settleMode(report) {
			s.spec.Sink.Emit(transcript.ModeChanged{ModeID: s.Mode()})
			return
		}
		s.spec.Sink.Emit(transcript.OptionsChanged{})
	})
}

// awaitMode keeps a turn in auto, or of a session that waits for auto, until it is known
// whether it can be had.
func (s *Session) awaitMode(ctx context.Context) {
	if !s.Unsettled() {
		return
	}
	report, err := s.host.Sandbox.Wait(ctx)
	if err == nil && s.settleMode(report) {
		s.emit(transcript.ModeChanged{ModeID: s.Mode()})
	}
}
