package script

import (
	"fmt"

	"acp-agent/model"
	"acp-agent/transcript"
)

// prompt is the latest thing that the user said in a conversation.
type prompt struct {
	message *transcript.Message // nil when there is none
	text    string
	next    int // index of the message after it
}

// same reports whether p and q are one prompt; messages that were stored and
// loaded are equal by id only.
func (p *prompt) same(q *prompt) bool {
	if p.message == q.message {
		return true
	}
	return p.message != nil && q.message != nil && p.message.ID != "" && p.message.ID == q.message.ID
}

// latestPrompt finds the last prompt of messages. Text that the agent itself put there is none.
func latestPrompt(messages []*transcript.Message) *prompt {
	for i := len(messages) - 1; i >= 0; i-- {
		if text, ok := userText(messages[i]); ok {
			return &prompt{message: messages[i], text: text, next: i + 1}
		}
	}
	return &prompt{}
}

// userText is the text of a prompt; false for a message that the agent put into the conversation.
func userText(m *transcript.Message) (string, bool) {
	if m.Role != transcript.User {
		return "", false
	}
	text, ok := "", len(m.Parts) == 0
	for _, part := range m.Parts {
		t, isText := part.(*transcript.TextPart)
		if isText && !t.Synthetic {
			text += t.Text
		}
		ok = ok || !isText || !t.Synthetic
	}
	return text, ok
}

// cursor is a conversation's place in a script. It lives in the request's Memo.
type cursor struct {
	script *Script
	prompt *prompt
	scene  *scene
	next   int // in scene
	main   int // in the main scene, which continues over several prompts
}

// nextStep returns the step that answers a request, and advances the cursor of its conversation.
func (s *Script) nextStep(req *model.Request) (*step, *scene, *prompt, error) {
	now := latestPrompt(req.Messages)
	c := s.resume(req, now)
	if !c.prompt.same(now) {
		c.prompt, c.scene, c.next = now, s.sceneFor(req.System, now.text), 0
		if c.scene == s.main {
			c.next = c.main
		}
	}
	st := c.scene.at(c.next)
	if st == nil {
		return nil, nil, nil, fmt.Errorf("%s: no step is left for the prompt %.80q (it has had %d)", s.name, now.text, c.next)
	}
	c.next++
	if c.scene == s.main {
		c.main = c.next
	}
	return st, c.scene, now, nil
}

// resume returns the conversation's cursor, or makes one at the place that its messages have
// reached.
func (s *Script) resume(req *model.Request, now *prompt) *cursor {
	if req.Memo != nil {
		if c, ok := req.Memo.Value.(*cursor); ok && c.script == s {
			return c
		}
	}
	c := &cursor{script: s, prompt: now, scene: s.sceneFor(req.System, now.text)}
	answers, mainAnswers := 0, 0
	current := s.sceneFor(req.System, "")
	for i, m := range req.Messages {
		if text, ok := userText(m); ok {
			current = s.sceneFor(req.System, text)
		}
		if m.Role != transcript.Assistant || m.Synthetic {
			continue
		}
		if i >= now.next {
			answers++
		}
		if current == s.main {
			mainAnswers++
		}
	}
	c.main = s.main.after(mainAnswers)
	c.next = c.main
	if c.scene != s.main {
		c.next = c.scene.after(answers)
	}
	if req.Memo != nil {
		req.Memo.Value = c
	}
	return c
}

func (s *Script) sceneFor(system, user string) *scene {
	for _, sc := range s.scenes {
		if (sc.when == nil || sc.when.MatchString(user)) && (sc.system == nil || sc.system.MatchString(system)) {
			return sc
		}
	}
	return s.main
}
