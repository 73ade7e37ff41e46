package trace

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Tracer starts spans. A nil Tracer is valid and starts none. It is safe for
// concurrent use.
type Tracer struct {
	log *slog.Logger
	now func() time.Time
}

// New returns a Tracer that writes its records to log at level info, with the
// message "span". A nil log gives a nil Tracer: tracing is off.
func New(log *slog.Logger) *Tracer {
	if log == nil {
		return nil
	}
	return &Tracer{log: log, now: time.Now}
}

// Enabled reports whether spans are written.
func (t *Tracer) Enabled() bool { return t != nil }

// Start begins a span beneath the one in ctx, or a new trace when there is
// none. The returned context carries the span; the caller ends it. Attributes
// must not hold contents of files, messages or results.
func (t *Tracer) Start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	s := &Span{tracer: t, name: name, id: newID(8), start: t.now()}
	// Copied, and not kept, so that the caller's list stays on its stack.
	s.attrs = append(make([]slog.Attr, 0, len(attrs)+4), attrs...)
	if parent := FromContext(ctx); parent != nil {
		s.trace, s.parent, s.conversation = parent.trace, parent.id, parent.conversation
	} else {
		s.trace = newID(16)
	}
	return WithSpan(ctx, s), s
}

type spanKey struct{}

// FromContext returns the span that ctx carries, nil when there is none.
func FromContext(ctx context.Context) *Span {
	span, _ := ctx.Value(spanKey{}).(*Span)
	return span
}

// WithSpan returns a context beneath which spans are children of span, for
// work whose context does not descend from the one Start returned. With a nil
// span it is ctx itself.
func WithSpan(ctx context.Context, span *Span) context.Context {
	if span == nil {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, span)
}

// newID returns n random bytes in hexadecimal, not all zero. They tell spans
// apart and keep no secret.
func newID(n int) string {
	buf := make([]byte, 0, 16)
	for len(buf) < n {
		buf = binary.BigEndian.AppendUint64(buf, max(1, rand.Uint64()))
	}
	return hex.EncodeToString(buf)
}
