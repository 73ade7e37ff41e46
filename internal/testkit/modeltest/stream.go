package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"acp-agent/internal/pause"
)

// stream writes the events of one answer.
type stream struct {
	w    http.ResponseWriter
	r    *http.Request
	step *Step
	sent int
}

// play sends the events of the step, up to its fault if it has one.
func (s *stream) play() {
	for _, line := range s.step.Raw {
		if !s.send([]byte(line + "\n")) {
			return
		}
	}
	if s.step.Raw != nil {
		s.fault(true)
		return
	}
	for _, d := range s.step.deltas() {
		if !s.event(map[string]any{"index": 0, "delta": d, "finish_reason": nil}, nil) {
			return
		}
	}
	if finish := s.step.finish(); finish != nil {
		if !s.event(map[string]any{"index": 0, "delta": delta{}, "finish_reason": finish}, nil) {
			return
		}
	}
	if s.step.Usage != nil && !s.event(nil, s.step.Usage) {
		return
	}
	if !s.step.NoDone {
		s.send([]byte("data: [DONE]\n\n"))
	}
}

// event sends one event in the form of the real API.
func (s *stream) event(choice map[string]any, usage json.RawMessage) bool {
	event := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake",
		"system_fingerprint": "fp_fake", "choices": []any{},
	}
	if choice != nil {
		event["choices"] = []any{choice}
	}
	if usage != nil {
		event["usage"] = usage
	}
	text, err := json.Marshal(event)
	if err != nil {
		return false
	}
	return s.send(fmt.Appendf(nil, "data: %s\n\n", text))
}

// send writes and flushes one piece, unless the client is gone or the step
// breaks off before it.
func (s *stream) send(text []byte) bool {
	if s.fault(false) || s.r.Context().Err() != nil {
		return false
	}
	if s.sent > 0 && s.step.Pace > 0 {
		if pause.For(s.r.Context(), s.step.pause()) != nil {
			return false
		}
	}
	_, _ = s.w.Write(text)
	_ = http.NewResponseController(s.w).Flush()
	s.sent++
	return true
}

// fault cuts or stalls the answer if that is due, and reports whether it did. atEnd says that no
// further event comes, so that a fault after more events is due, too.
func (s *stream) fault(atEnd bool) bool {
	due := func(after int) bool {
		return after == -1 && s.sent == 0 || after > 0 && (s.sent >= after || atEnd)
	}
	switch {
	case due(s.step.Cut):
		panic(http.ErrAbortHandler) // how net/http breaks a connection
	case due(s.step.Stall):
		_ = http.NewResponseController(s.w).Flush()
		<-s.r.Context().Done()
		return true
	}
	return false
}
