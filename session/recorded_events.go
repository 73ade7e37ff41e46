package session

import (
	"encoding/json"

	"acp-agent/transcript"
)

// problemEvent is the recorded event that something of the machine does not work, such as a full disk.
const problemEvent = "problem"

// noticeProblem tells the user once, by key, that something of the machine does not work. It belongs to no
// command. In a replay only the recording says so.
func (o opened) noticeProblem(c *conversation, key string, notice transcript.Notice) {
	if o.host.Tape.Plays() {
		return
	}
	p := problem{key, notice}
	if data, err := json.Marshal(p); err == nil {
		o.host.Tape.Happened(o.ID, problemEvent, data)
	}
	c.passOnce(p)
}

// passOnce passes the notice of a problem on, unless one with the same key was emitted before.
func (c *conversation) passOnce(p problem) {
	if c.notices.first(p.Key) {
		c.pass(p.Notice)
	}
}

// playProblem repeats a recorded problem.
func (c *conversation) playProblem(data []byte) {
	var p problem
	if json.Unmarshal(data, &p) == nil {
		c.passOnce(p)
	}
}

// playHappened passes what a recording has of events that no call waited for to the parts from which
// they came: jobs, prompts of MCP servers, questions of MCP servers, and problems of the machine. Only a replay calls it back.
func playHappened(o opened, jobs *jobs, servers *servers, conversation *conversation) {
	o.host.Tape.OnHappened(o.ID, func(name string, data []byte) {
		switch name {
		case jobEvent:
			jobs.play(data)
		case promptsEvent:
			servers.playPrompts(data)
		case problemEvent:
			conversation.playProblem(data)
		default:
			if person, ok := o.spec.Person.(*recordedPerson); ok {
				person.play(name, data)
			}
		}
	})
}
