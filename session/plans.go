package session

import (
	"slices"
	"sync"

	"acp-agent/transcript"
)

// plans are the plans of the conversation as they stood at the user's messages, which an undo
// sets back (R61, R142). They are stored with the session, and safe for concurrent use.
type plans struct {
	conversation *conversation

	mu    sync.Mutex
	known map[string][]transcript.PlanEntry // by key
}

// The keys of plans: as one stood when a message was sent, and when an undo took the message
// back.
func sentPlanKey(messageID string) string   { return "plan." + messageID }
func undonePlanKey(messageID string) string { return "plan.undone." + messageID }

func newPlans(c *conversation) *plans {
	return &plans{conversation: c, known: map[string][]transcript.PlanEntry{}}
}

// note notes the present plan under a key.
func (p *plans) note(key string) {
	plan := slices.Clone(p.conversation.log.Memory().Plan)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[key] = plan
	p.conversation.archive.put(key, plan)
}

// setBack makes the plan that was noted under a key the present one. Where none is known, as
// for a message of an older session, the plan stays.
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
