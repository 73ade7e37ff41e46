package compaction

import "acp-agent/transcript"

// Meter says how many tokens of the window the next request of a conversation takes. It costs
// what came since it was last asked, not the whole conversation. The zero value is ready.
type Meter struct {
	// Fixed is what each request begins with; see [Fixed].
	Fixed int

	// The first n messages were estimated as sum; last is the last of them.
	n, sum      int
	first, last *transcript.Message
}

// lookBack is how many messages back a server's count is looked for: an older one is no
// better than the estimate.
const lookBack = 32

// Fill is what the server counted with the last answer, and an estimate of what came after it.
// Where the server counts nothing, or what cannot be all, everything is estimated. model is the
// one that is asked next.
func (m *Meter) Fill(messages []*transcript.Message, model string) int {
	whole := m.Estimate(messages)
	for i := len(messages) - 1; i >= max(0, len(messages)-lookBack); i-- {
		answer := messages[i]
		if answer.Usage == nil || answer.Usage.Total() == 0 {
			continue
		}
		counted := answer.Usage.Total()
		if answer.Model != model { // no two models count alike
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

// Reset forgets the messages, as after a compaction.
func (m *Meter) Reset() { m.n, m.sum, m.first, m.last = 0, 0, nil, nil }
