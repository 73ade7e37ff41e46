package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/pause"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, why := time.Now(), errors.New("stopped by the user")
		if err := pause.For(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("slept %v, %v", time.Since(start), err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		start = time.Now()
		if err := pause.For(ctx, time.Minute); !errors.Is(err, why) || time.Since(start) != time.Second {
			t.Errorf("slept %v, %v, want 1s and %v", time.Since(start), err, why)
		}
		if err := pause.For(ctx, 0); !errors.Is(err, why) {
			t.Errorf("of an ended context: %v, want %v", err, why)
		}
	})
}
