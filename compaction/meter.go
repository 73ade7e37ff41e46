package compaction

import "acp-agent/transcript"

// Meter estimates how many tokens of the window the next request of a conversation takes. It looks only
// at the messages since its last estimate. The zero value is ready for use.
type Meter struct {
	// Fixed is the size of what every request begins with; see the function Fixed.
	Fixed int

	// The first n messages, from first to last, were estimated as sum.
	n, sum      int
	first, last *transcript.Message
}

// lookBack is how many messages back Fill uses the count of a server: an older one is no better than an
// estimate.
const lookBack = 32

// Fill is the server's count of the last answer, plus an estimate of the messages after it. If the server
// does not count, or its count is implausibly low, everything is estimated. model is the model of the
// next request.
func (m *Meter) Fill(messages []*transcript.Message, model string) int {
	whole := m.Estimate(messages)
	for i := len(messages) - 1; i >= max(0, len(messages)-lookBack); i-- {
		answer := messages[i]
		if answer.Usage == nil || answer.Usage.Total() == 0 {
			continue
		}
		counted := answer.Usage.Total()
		if answer.Model != model { // another model may count more tokens
			counted += counted / 4
		}
		for _, call := range answer.Calls() {
			counted += ofResult(call)
		}
		// Some servers leave out what they had in their caches.
		return max(counted+ofAll(messages[i+1:]), whole/2)
	}
	return whole
}

// Estimate estimates the request without the server's counts.
func (m *Meter) Estimate(messages []*transcript.Message) int {
	if m.n > len(messages) || m.n > 0 && (messages[0] != m.first || messages[m.n-1] != m.last) {
		m.Reset()
	}
	for _, message := range messages[m.n:] {
		if !message.Finished {
			return m.Fixed + m.sum + ofAll(messages[m.n:])
		}
		if m.n == 0 {
			m.first = message
		}
		m.n, m.sum, m.last = m.n+1, m.sum+ofMessage(message), message
	}
	return m.Fixed + m.sum
}

// Reset drops the estimates; a compaction changes the messages.
func (m *Meter) Reset() { m.n, m.sum, m.first, m.last = 0, 0, nil, nil }
