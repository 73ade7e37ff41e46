package testreq

import "time"

// Slack stretches a stated deadline for a build that the race detector slows down.
func Slack(d time.Duration) time.Duration {
	if raceEnabled {
		return 3 * d
	}
	return d
}
