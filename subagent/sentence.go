package subagent

import (
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// endSentence tells the user that a background subagent has ended. Its report goes to the agent
// above (R68). It is empty after a cancellation, which the user knows about.
func (n *Node) endSentence() string {
	r := n.outcome.result.Record
	if r.State == transcript.ChildCancelled {
		return ""
	}
	n.view.mu.Lock()
	read := len(n.view.read)
	n.view.mu.Unlock()
	return sentence(r, read, len(n.outcome.result.Modified))
}

// sentence describes how a subagent ended, and what it did.
func sentence(r transcript.ChildRecord, read, changed int) string {
	text := kinds.Code(transcript.PathText(r.Path), pathRunes)
	switch {
	case r.State != transcript.ChildDone:
		text += " has failed"
	case r.Note != "":
		text += " has finished early"
	default:
		text += " has finished"
	}
	var did []string
	for _, fact := range []struct {
		n         int
		what, how string
	}{{r.Calls, "tool call", ""}, {read, "file", " read"}, {changed, "file", " changed"}} {
		if fact.n > 0 {
			did = append(did, kinds.Count(fact.n, fact.what)+fact.how)
		}
	}
	if len(did) > 0 {
		text += ": " + strings.Join(did, ", ")
	}
	if r.Note != "" {
		text += ". Why: " + kinds.Code(r.Note, noteRunes)
	}
	return text + "."
}
