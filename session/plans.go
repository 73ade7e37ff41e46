package session

import (
	"slices"
	"sync"

	"acp-agent/transcript"
)

// plans has the plan of the conversation as it was at each of the user's messages, for an undo to set
// it back (R61, R142). They are stored with the session. It is safe for concurrent use.
type plans struct {
	conversation *conversation

	mu    sync.Mutex                        // guards known
	known map[string][]transcript.PlanEntry // by key
}

// The keys of the plan when a message was sent, and of the plan when an undo took the message back.
func sentPlanKey(messageID string) string   { return "plan." + messageID }
func undonePlanKey(messageID string) string { return "plan.undone." + messageID }

func newPlans(c *conversation) *plans {
	return &plans{conversation: c, known: map[string][]transcript.PlanEntry{}}
}

// note notes the current plan under a key.
func (p *plans) note(key string) {
	plan := slices.Clone(p.conversation.log.Memory().Plan)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[key] = plan
	p.conversation.archive.put(key, plan)
}

// setBack makes the plan that was noted under a key the current one. Where none was noted, as in a
// session that an older version stored, the plan stays.
func (p *plans) setBack(key string) {
	p.mu.Lock()
	plan, ok := p.known[key]
	if !ok {
		ok, _ = p.conversation.archive.get(key, &plan)
	}
	p.mu.Unlock()
	if ok && !slices.Equal(plan, p.conversation.log.Memory().Plan) {
		p.conversation.record(transcript.PlanChanged{Entries: plan})
	}
}
