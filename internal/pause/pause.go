package pause

import (
	"context"
	"time"
)

// For sleeps for d. When ctx ends first, it returns the cause of ctx at once, also when d
// has passed at the same moment.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}
