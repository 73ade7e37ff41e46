package responses

import (
	"context"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// style is what the items of a message depend on besides the message.
type style struct {
	origin string
	// images are sent; rich says that results of calls may hold them.
	images, rich bool
	// official is OpenAI itself, which takes reasoning back in its encrypted form alone.
	official bool
}

// memo is what a conversation's Request.Memo holds: the items of its finished messages. A
// message is encoded once, so that a step costs what is new in it and servers find the
// prefix of the last request in their caches (R138).
type memo struct {
	style
	messages []*transcript.Message
	items    []string
	// stale are the messages whose reasoning the server refused.
	stale map[*transcript.Message]bool
}

// memoOf returns the memo of a request's conversation; a new one when it has none, or one
// made in another style. What the server refused of the conversation is kept.
func memoOf(req *model.Request, s style) *memo {
	if req.Memo == nil {
		return &memo{style: s}
	}
	m, ok := req.Memo.Value.(*memo)
	if !ok {
		m = &memo{}
		req.Memo.Value = m
	}
	if m.style != s {
		m.style, m.messages, m.items = s, nil, nil
	}
	return m
}

// all returns the items of the messages, each with a comma after it.
func (m *memo) all(messages []*transcript.Message) []string {
	same := 0
	for same < min(len(messages), len(m.messages)) && messages[same] == m.messages[same] {
		same++
	}
	m.messages, m.items = m.messages[:same], m.items[:same]
	list := append([]string(nil), m.items...)
	for i, message := range messages[same:] {
		text := string(m.appendItems(nil, message, m.stale[message]))
		if message.Finished && same+i == len(m.messages) {
			m.messages, m.items = append(m.messages, message), append(m.items, text)
		}
		list = append(list, text)
	}
	return list
}

// style is that in which a model of the server is written to now.
func (p *Provider) style(id string) style {
	return style{
		origin: p.origin(id), images: p.chat.Describe(context.Background(), id).Images != model.No,
		rich: p.takes(id, richOutput), official: p.chat.Official(),
	}
}

// body writes the request of one step. Without images none are sent, whatever is known of
// the model.
func (p *Provider) body(req *model.Request, params []wire.Param, images bool) wire.Pieces {
	s := p.style(req.Model)
	s.images = s.images && images
	items := memoOf(req, s).all(req.Messages)
	head := append([]byte(`{"model":`), wire.AppendString(nil, req.Model)...)
	head = append(head, `,"stream":true`...)
	head = wire.AppendParams(head, params)
	head = appendTools(head, req.Tools)
	if strings.TrimSpace(req.System) != "" {
		head = append(head, `,"instructions":`...)
		head = wire.AppendString(head, req.System)
	}
	head = append(head, `,"input":[`...)
	pieces := append(append(make(wire.Pieces, 0, len(items)+2), string(head)), items...)
	for i := len(pieces) - 1; i > 0; i-- { // each item has a comma after it, and some say nothing
		if pieces[i] != "" {
			pieces[i] = strings.TrimSuffix(pieces[i], ",")
			break
		}
	}
	return append(pieces, "]}")
}
