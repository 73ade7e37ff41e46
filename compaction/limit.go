package compaction

// The room that is kept free for an answer (R139).
const (
	// mostReserve is the largest reserve, in tokens.
	mostReserve = 20_000
	// reserveShare bounds the reserve to a quarter of the window.
	reserveShare = 4
)

// Limit is the number of tokens above which a conversation is compacted: the window less a reserve for
// the answer. The reserve is maxOutput, but at most 20,000 tokens and a quarter of the window. maxOutput
// and window are 0 when they are not known; the limit of an unknown window is 0, for none.
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
