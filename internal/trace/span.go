package trace

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Span is one piece of work. A nil Span is valid and does nothing. It is safe
// for concurrent use.
type Span struct {
	tracer            *Tracer
	name              string
	trace, id, parent string
	conversation      string // session id, handed down to children
	start             time.Time
	mu                sync.Mutex // guards what follows
	attrs             []slog.Attr
	ended             bool
}

// Set adds attributes; one that is there under the same key is replaced. After
// End it does nothing.
func (s *Span) Set(attrs ...slog.Attr) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	for _, attr := range attrs {
		if i := s.find(attr.Key); i >= 0 {
			s.attrs[i] = attr
		} else {
			s.attrs = append(s.attrs, attr)
		}
	}
}

func (s *Span) find(key string) int {
	return slices.IndexFunc(s.attrs, func(a slog.Attr) bool { return a.Key == key })
}

// End writes the span's record; a second End does nothing. The status is
// "error" when err is not nil or an attribute [ErrorType] was set, else "ok".
// Of err only its class is written: [ErrorType] as set before, else "cancelled"
// or "timeout" for what contexts report, else "_OTHER", which the conventions
// name for the case.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	end := s.tracer.now()
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	attrs := s.attrs
	if err != nil && s.find(ErrorType) < 0 {
		attrs = append(attrs, slog.String(ErrorType, errorType(err)))
	}
	s.mu.Unlock()
	s.tracer.log.LogAttrs(context.Background(), slog.LevelInfo, "span", s.record(end, attrs)...)
}

func (s *Span) record(end time.Time, attrs []slog.Attr) []slog.Attr {
	status := "ok"
	has := func(key string) bool {
		return slices.ContainsFunc(attrs, func(a slog.Attr) bool { return a.Key == key })
	}
	if has(ErrorType) {
		status = "error"
	}
	record := make([]slog.Attr, 0, len(attrs)+8)
	record = append(record, slog.String("name", s.name), slog.String("trace_id", s.trace), slog.String("span_id", s.id))
	if s.parent != "" {
		record = append(record, slog.String("parent_span_id", s.parent))
	}
	record = append(record,
		slog.String("start", s.start.Format(time.RFC3339Nano)),
		slog.Float64("duration_ms", float64(end.Sub(s.start))/float64(time.Millisecond)),
		slog.String("status", status))
	if s.conversation != "" && !has(ConversationID) {
		record = append(record, slog.String(ConversationID, s.conversation))
	}
	return append(record, attrs...)
}

func errorType(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "_OTHER"
}
