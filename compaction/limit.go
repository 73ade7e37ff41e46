package compaction

// The room that is kept free for an answer (R139).
const (
	// mostReserve is the largest reserve, in tokens.
	mostReserve = 20_000
	// reserveShare is the part of the window that the reserve has at most: a quarter.
	reserveShare = 4
)

// Limit is the fill above which a conversation is compacted: the window less a reserve, which
// is what an answer may take, but at most 20,000 tokens and a quarter of the window. maxOutput
// is 0 when it is not known; a window that is not known, 0, has no limit.
func Limit(window, maxOutput int) int {
	if window <= 0 {
		return 0
	}
	reserve := min(mostReserve, window/reserveShare)
	if maxOutput > 0 {
		reserve = min(reserve, maxOutput)
	}
	return window - reserve
}
