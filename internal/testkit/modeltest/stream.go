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

func (o *stream) play() {
	for _, line := range o.step.Raw {
		if !o.send([]byte(line + "\n")) {
			return
		}
	}
	if o.step.Raw != nil {
		o.fault(true)
		return
	}
	for _, d := range o.step.deltas() {
		if !o.event(map[string]any{"index": 0, "delta": d, "finish_reason": nil}, nil) {
			return
		}
	}
	if finish := o.step.finish(); finish != nil {
		if !o.event(map[string]any{"index": 0, "delta": delta{}, "finish_reason": finish}, nil) {
			return
		}
	}
	if o.step.Usage != nil && !o.event(nil, o.step.Usage) {
		return
	}
	if !o.step.NoDone {
		o.send([]byte("data: [DONE]\n\n"))
	}
}

// event sends one event in the form of the real API.
func (o *stream) event(choice map[string]any, usage json.RawMessage) bool {
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
	return o.send(fmt.Appendf(nil, "data: %s\n\n", text))
}

// send writes and flushes one piece, unless the client is gone or the step
// breaks off before it.
func (o *stream) send(text []byte) bool {
	if o.fault(false) || o.r.Context().Err() != nil {
		return false
	}
	if o.sent > 0 && o.step.Pace > 0 {
		if pause.For(o.r.Context(), o.step.pause()) != nil {
			return false
		}
	}
	_, _ = o.w.Write(text)
	_ = http.NewResponseController(o.w).Flush()
	o.sent++
	return true
}

// fault cuts or stalls the answer if that is due.
func (o *stream) fault(atEnd bool) bool {
	due := func(after int) bool {
		return after == -1 && o.sent == 0 || after > 0 && (o.sent >= after || atEnd)
	}
	switch {
	case due(o.step.Cut):
		panic(http.ErrAbortHandler) // how net/http breaks a connection
	case due(o.step.Stall):
		_ = http.NewResponseController(o.w).Flush()
		<-o.r.Context().Done()
		return true
	}
	return false
}
