package openai

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
// not begun after 10 minutes, formerly 30 (their documentation of streaming and of rate
// limits); llama.cpp sends ":" every 30 seconds, later every second, while it reads a prompt
// (pull requests 24013 and 25241), as others do for prompts that take 20 minutes to read
// (mlx-lm, pull request 362). Ollama and older servers are silent until the first token.
// vLLM, with some parsers, sends empty deltas for as long as a tool call is written, which
// was seen to last minutes (issue 30999, dynamo issue 13821).
const (
	// idleTimeout bounds the silence on the wire within an answer, slowStartTimeout that
	// before it, of servers that read a prompt in silence.
	idleTimeout      = 60 * time.Second
	slowStartTimeout = 10 * time.Minute
	// contentTimeout bounds the time in which events come, and none brings content.
	contentTimeout = 10 * time.Minute
	// keepAliveTimeout bounds the time without content while the server says that it is
	// busy; localKeepAliveTimeout is that for local servers.
	keepAliveTimeout      = 30 * time.Minute
	localKeepAliveTimeout = time.Hour
)

var errIdle = errors.New("idle for too long")

// patience is a length of time and what of it was spent.
type patience struct{ limit, spent time.Duration }

// watchdog reads a body and ends the request when the server is silent for longer than
// limit, or brings no content for longer than the patience with it. Only waiting for the
// server counts, not the consumer's time. The timer's function runs on its own for an
// instant; it only cancels.
type watchdog struct {
	body  io.Reader
	limit time.Duration
	timer *time.Timer

	vain  patience // without content; a sign of life renews it
	alive patience // without content, whatever signs of life there are
}

func newWatchdog(limit time.Duration, cancel context.CancelCauseFunc) *watchdog {
	return &watchdog{limit: limit, timer: time.AfterFunc(limit, func() { cancel(errIdle) })}
}

func (w *watchdog) Read(b []byte) (int, error) {
	begun := time.Now()
	w.timer.Reset(min(w.limit, w.vain.limit-w.vain.spent, w.alive.limit-w.alive.spent))
	n, err := w.body.Read(b)
	w.timer.Stop()
	waited := time.Since(begun)
	w.vain.spent += waited
	w.alive.spent += waited
	return n, err
}

func (w *watchdog) stop() { w.timer.Stop() }

// content notes that a part of the answer has come.
func (w *watchdog) content() { w.vain.spent, w.alive.spent = 0, 0 }

// signOfLife notes that the server says it is busy.
func (w *watchdog) signOfLife() { w.vain.spent = 0 }

// lastWait has no more than the limit left for all that may still come.
func (w *watchdog) lastWait(limit time.Duration) {
	w.limit, w.alive = limit, patience{limit: limit}
}

// reason says why the request was ended, and what to do about it.
func (w *watchdog) reason() (message, hint string) {
	for _, p := range []patience{w.alive, w.vain} {
		if p.spent >= p.limit {
			return fmt.Sprintf("the model server kept the answer open for %s and said nothing", p.limit),
				"model.content_timeout and model.keep_alive_timeout say how long to wait"
		}
	}
	return fmt.Sprintf("the model server was silent for %s", w.limit), ""
}
