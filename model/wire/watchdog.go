package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// The default limits on a server that says nothing, or nothing of its answer.
//
// Servers keep an answer open in different ways while they have nothing to say: OpenRouter
// sends comments ": OPENROUTER PROCESSING"; DeepSeek ": keep-alive", and closes what it has
// not started after 10 minutes, formerly 30 (their documentation of streaming and of rate
// limits); llama.cpp sends ":" every 30 seconds, later every second, while it reads a prompt
// (pull requests 24013 and 25241), as others do for prompts that take 20 minutes to read
// (mlx-lm, pull request 362). Ollama and older servers are silent until the first token.
// vLLM, with some parsers, sends empty deltas for as long as a tool call is written, which
// was seen to last minutes (issue 30999, dynamo issue 13821); other servers are silent
// for that long, hosted ones too: a patch of a large file took 6 minutes
// (github.com/github/copilot-cli/issues/4286).
const (
	// StartTimeout bounds the silence of a hosted server before an answer, IdleTimeout the
	// silence within one.
	StartTimeout = 2 * time.Minute
	IdleTimeout  = 6 * time.Minute
	// SlowTimeout takes the place of both for local servers, and of StartTimeout for models
	// that read or reason in silence.
	SlowTimeout = 10 * time.Minute
	// contentTimeout bounds the time in which events arrive, but none with content.
	contentTimeout = 10 * time.Minute
	// keepAliveTimeout bounds the time without content while the server says that it is
	// busy; localKeepAliveTimeout does so for local servers.
	keepAliveTimeout      = 30 * time.Minute
	localKeepAliveTimeout = time.Hour
)

// ErrIdle is the cause of a request that a Watchdog ended.
var ErrIdle = errors.New("idle for too long")

// Timeouts say how long a server may be silent, or bring nothing; 0 means what the
// constants say.
type Timeouts struct {
	// Start is for the time before an answer begins, Idle for the silence within it.
	Start, Idle time.Duration
	// Content is for the time in which no event has content, KeepAlive for that in which
	// the server says that it is busy.
	Content, KeepAlive time.Duration
}

// IdleLimit is how long the server may be silent within an answer.
func (s *Server) IdleLimit() time.Duration {
	switch {
	case s.Timeouts.Idle > 0:
		return s.Timeouts.Idle
	case s.Local:
		return SlowTimeout
	}
	return IdleTimeout
}

// StartLimit is how long the server may be silent before it answers; slow is for one that
// reads a long prompt, or reasons, in silence.
func (s *Server) StartLimit(slow bool) time.Duration {
	switch {
	case s.Timeouts.Start > 0:
		return s.Timeouts.Start
	case slow || s.Local:
		return max(SlowTimeout, s.Timeouts.Idle)
	case s.Timeouts.Idle > 0:
		return s.Timeouts.Idle
	}
	return StartTimeout
}

// contentLimits are how long the server may bring no content: without a sign of life, and
// with one.
func (t Timeouts) contentLimits(local bool) (vain, alive time.Duration) {
	vain, alive = contentTimeout, keepAliveTimeout
	if local {
		alive = localKeepAliveTimeout
	}
	if t.Content > 0 {
		vain = t.Content
	}
	if t.KeepAlive > 0 {
		alive = t.KeepAlive
	}
	return vain, max(vain, alive)
}

// allowance is a length of time and how much of it was spent.
type allowance struct{ limit, spent time.Duration }

// Watchdog reads a body and ends the request when the server is silent for longer than
// its limit, or brings no content for longer than it may. Only waiting for the
// server counts, not the consumer's time. The timer's function runs on a goroutine of its own
// for an instant; it only cancels.
type Watchdog struct {
	Body  io.Reader // set once there is an answer
	limit time.Duration
	timer *time.Timer
	// onLimit, unless nil, is called with the limit of an answer that has started.
	onLimit func(limit time.Duration)

	vain  allowance // without content; a sign of life renews it
	alive allowance // without content, whatever signs of life there are
}

// NewWatchdog returns a watchdog that waits for the answer to begin.
func NewWatchdog(limit time.Duration, cancel context.CancelCauseFunc) *Watchdog {
	return &Watchdog{limit: limit, timer: time.AfterFunc(limit, func() { cancel(ErrIdle) })}
}

// Read implements io.Reader.
func (w *Watchdog) Read(b []byte) (int, error) {
	start := time.Now()
	w.timer.Reset(min(w.limit, w.vain.limit-w.vain.spent, w.alive.limit-w.alive.spent))
	n, err := w.Body.Read(b)
	w.timer.Stop()
	waited := time.Since(start)
	w.vain.spent += waited
	w.alive.spent += waited
	return n, err
}

// Stop ends the watch.
func (w *Watchdog) Stop() { w.timer.Stop() }

// Content notes that a part of the answer has come.
func (w *Watchdog) Content() { w.vain.spent, w.alive.spent = 0, 0 }

// Answering sets the limit that holds once the answer has started.
func (w *Watchdog) Answering(limit time.Duration) {
	if w.onLimit != nil && limit != w.limit {
		w.onLimit(limit)
	}
	w.limit = limit
}

// SignOfLife notes that the server says it is busy.
func (w *Watchdog) SignOfLife() { w.vain.spent = 0 }

// LastWait leaves no more than the limit for everything that may still come.
func (w *Watchdog) LastWait(limit time.Duration) {
	w.limit, w.alive = limit, allowance{limit: limit}
}

// reason says why the request was ended, and what to do about it.
func (w *Watchdog) reason() (message, hint string) {
	for _, a := range []allowance{w.alive, w.vain} {
		if a.spent >= a.limit {
			return fmt.Sprintf("the model server kept the answer open for %s and said nothing", a.limit),
				"model.content_timeout and model.keep_alive_timeout say how long to wait"
		}
	}
	return fmt.Sprintf("the model server was silent for %s", w.limit), ""
}
