package search

import "math"

// byteRank says how common a byte is in source text and prose: the share of a
// byte is 2^(rank/12 - 20). Measured over 200 MB of code, text and manuals;
// only speed depends on it. Read-only.
var byteRank = [256]uint8{
	0, 0, 0, 0, 0, 0, 0, 0, 0, 168, 176, 0, 0, 50, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0,
	206, 112, 160, 133, 122, 107, 113, 143, 156, 156, 138, 120, 171, 148, 165, 169,
	179, 164, 161, 159, 156, 154, 156, 153, 154, 153, 155, 128, 151, 152, 152, 86,
	99, 160, 146, 152, 150, 156, 147, 132, 132, 148, 114, 120, 144, 139, 143, 143,
	142, 115, 148, 151, 152, 133, 130, 124, 123, 123, 108, 140, 134, 140, 84, 153,
	129, 181, 159, 173, 171, 190, 166, 159, 165, 180, 134, 143, 175, 164, 180, 179,
	169, 121, 180, 181, 185, 167, 147, 144, 165, 152, 122, 142, 115, 142, 85, 0,
	95, 79, 84, 79, 64, 64, 63, 68, 72, 61, 63, 70, 63, 74, 57, 67,
	61, 57, 54, 64, 86, 70, 64, 89, 58, 68, 58, 56, 63, 55, 65, 77,
	102, 71, 55, 56, 88, 71, 72, 72, 74, 68, 73, 62, 56, 62, 75, 70,
	87, 72, 78, 67, 75, 79, 67, 98, 88, 71, 78, 67, 70, 79, 77, 66,
	0, 0, 106, 104, 56, 55, 25, 20, 0, 37, 27, 0, 33, 10, 75, 59,
	105, 91, 36, 20, 7, 65, 38, 71, 80, 80, 41, 52, 0, 0, 0, 0,
	113, 92, 94, 65, 41, 58, 57, 40, 36, 44, 33, 36, 47, 30, 0, 33,
	65, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
}

// Costs in nanoseconds, measured once on a common server core; only their
// ratios matter.
const (
	costPass  = 0.04 // one IndexByte pass, per byte
	costStop  = 7.0  // one return from IndexByte
	costStep  = 2.0  // one step of the shift table
	costCheck = 90.0 // one line looked at in vain
	costDFA   = 1.4  // the automaton, per byte
)

// share is the part of all bytes that equal b, both cases with fold.
func share(b byte, fold bool) float64 {
	s := math.Exp2(float64(byteRank[b])/12 - 20)
	if fold && 'a' <= b && b <= 'z' {
		s += math.Exp2(float64(byteRank[b-'a'+'A'])/12 - 20)
	}
	return s
}

// rarest is the offset of the least common byte of s.
func rarest(s string, fold bool) int {
	at := 0
	for i := range len(s) {
		if share(s[i], fold) < share(s[at], fold) {
			at = i
		}
	}
	return at
}

// scanCost estimates what looking for the set costs per byte of text. It is
// infinite for a set that cannot be looked for.
func scanCost(set []string, fold bool) float64 {
	if len(set) == 0 {
		return math.Inf(1)
	}
	falseHits := 0.0
	for _, s := range set {
		if s == "" {
			return math.Inf(1)
		}
		p := 1.0
		for i := range len(s) {
			p *= min(1, 3*share(s[i], fold)) // neighbours go together
		}
		falseHits += p
	}
	return min(streamCost(set, fold), shiftCost(set)) + falseHits*costCheck
}

// streamCost is the cost of following the rarest byte of each literal.
func streamCost(set []string, fold bool) float64 {
	cost := 0.0
	var seen byteSet
	for _, s := range set {
		b := s[rarest(s, fold)]
		if seen[b] {
			continue
		}
		seen[b] = true
		cost += costPass + share(b, fold)*costStop
		if fold && 'a' <= b && b <= 'z' {
			cost += costPass
		}
	}
	return cost
}

// shiftCost is the cost of jumping by a shift table over pairs of bytes.
func shiftCost(set []string) float64 {
	shortest := math.MaxInt
	for _, s := range set {
		shortest = min(shortest, len(s))
	}
	if shortest < 2 {
		return math.Inf(1)
	}
	return costStep / (0.9*float64(shortest-1) + 0.1)
}

type byteSet [256]bool
