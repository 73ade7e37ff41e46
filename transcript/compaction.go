package transcript

import (
	"fmt"
	"slices"

	"acp-agent/kinds"
)

// Compaction makes the conversation before its message shorter for the model (R139). The record keeps
// everything: if the message is hidden, the model sees all messages before it again.
type Compaction struct {
	// Summary says that the text of the message replaces the messages before it, except the ones that
	// Keep names. Without it the message has no text, and all messages are kept.
	Summary bool     `json:"summary,omitempty"`
	Keep    []string `json:"keep,omitempty"`
	// Pruned are the tool calls before it whose results the model no longer reads.
	Pruned []string `json:"pruned,omitempty"`
	// Words are the user's texts in the messages that the summary replaces, in order, and Files the
	// files that were changed in them. The next summary needs both word for word.
	Words []string `json:"words,omitempty"`
	Files []string `json:"files,omitempty"`
	// Manual says that the user asked for it.
	Manual bool `json:"manual,omitempty"`
	// Before and After are estimates of the tokens of the conversation, in the model's window.
	Before int `json:"before,omitempty"`
	After  int `json:"after,omitempty"`
}

// Sentence tells the user what the compaction did.
func (c *Compaction) Sentence() string {
	if !c.Summary {
		return fmt.Sprintf("The results of %s were taken out of what the model sees, to fit its window: about %d tokens in place of %d.",
			kinds.Count(len(c.Pruned), "old tool call"), c.After, c.Before)
	}
	return fmt.Sprintf("The conversation was compacted to fit the model's window: the model goes on with a summary and the last messages, "+
		"about %d tokens in place of %d.", c.After, c.Before)
}

// View returns what a model sees after message m, which has the compaction; seen is what it saw before.
func (c *Compaction) View(seen []*Message, m *Message) []*Message {
	var after []*Message
	if c.Summary {
		after = append(after, m)
	}
	keep, pruned := setOf(c.Keep), setOf(c.Pruned)
	for _, old := range seen {
		if !c.Summary || keep[old.ID] {
			after = append(after, old.kept(pruned))
		}
	}
	return after
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// kept is the message as a model sees it after a compaction: a copy without the results of the pruned calls,
// and without Usage, which counted a longer conversation. It returns m itself if m still grows or does not
// change.
func (m *Message) kept(pruned map[string]bool) *Message {
	isPruned := func(p Part) bool {
		call, ok := p.(*ToolPart)
		return ok && pruned[call.CallID]
	}
	if !m.Finished || m.Usage == nil && !slices.ContainsFunc(m.Parts, isPruned) {
		return m
	}
	copied := *m
	copied.Usage = nil
	copied.Parts = slices.Clone(m.Parts)
	for i, part := range copied.Parts {
		if isPruned(part) {
			call := *part.(*ToolPart)
			call.Text, call.Images = call.prunedText(), nil
			copied.Parts[i] = &call
		}
	}
	return &copied
}

// prunedText is the text in place of a pruned result.
func (p *ToolPart) prunedText() string {
	if p.Result != nil && p.Result.Metadata.OutputPath != "" {
		return fmt.Sprintf("[This result was taken out to save room; all of it is in %s]", p.Result.Metadata.OutputPath)
	}
	return "[This result was taken out to save room; call the tool again if you need it]"
}
