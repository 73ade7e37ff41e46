package subagent

import (
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// said is the sentence by which the user learns that the agent has ended in the background.
// What it reports is for the agent above it (R68). Of a cancel the user knows already.
func (n *Node) said() string {
	r := n.ending.result.Record
	if r.State == transcript.ChildCancelled {
		return ""
	}
	n.view.mu.Lock()
	read := len(n.view.read)
	n.view.mu.Unlock()
	return sentence(r, read, len(n.ending.result.Modified))
}

// sentence says how a subagent ended, and what it did.
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
