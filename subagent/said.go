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

func sentence(r transcript.ChildRecord, read, changed int) string {
	facts := []string{kinds.Count(r.Calls, "tool call")}
	if read > 0 {
		facts = append(facts, kinds.Count(read, "file")+" read")
	}
	if changed > 0 {
		facts = append(facts, kinds.Count(changed, "file")+" changed")
	}
	name, did := kinds.Code(transcript.PathText(r.Path), pathRunes), strings.Join(facts, ", ")
	why := strings.TrimSuffix(kinds.Line(r.Note, noteRunes), ".")
	switch {
	case r.State != transcript.ChildDone && why == "":
		return name + " has failed after " + did + "."
	case r.State != transcript.ChildDone:
		return name + " has failed after " + did + ": " + kinds.Code(why, noteRunes) + "."
	case why != "":
		return name + " has finished early: " + did + "; " + kinds.Code(why, noteRunes) + "."
	}
	return name + " has finished: " + did + "."
}
