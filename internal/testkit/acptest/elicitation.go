package acptest

import "encoding/json"

// elicited answers the next question that comes as a form (elicitation/create),
// or the one that is open.
func (p *player) elicited(result map[string]any) {
	p.tb.Helper()
	m, next := p.await(p.formFrom, "a question", func(m *Message) bool { return m.Method == methodElicitation+"create" })
	p.formFrom = next
	p.reply(m.ID, result, nil)
}

// fill answers a form with these values of its fields.
func (p *player) fill(content string) {
	p.tb.Helper()
	p.needsForms()
	if !json.Valid([]byte(content)) {
		p.fatal("the values of a form must be JSON: %s", content)
	}
	p.elicited(map[string]any{"action": "accept", "content": json.RawMessage(content)})
}

func (p *player) decline(string) {
	p.tb.Helper()
	p.needsForms()
	p.elicited(map[string]any{"action": "decline"})
}
