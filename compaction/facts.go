package compaction

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/transcript"
)

// facts is what a summary must not lose, so that it is not left to a model.
type facts struct {
	words []string // of the user, one text for each message
	files []string // that were changed, the last one last
	plan  []transcript.PlanEntry
}

// factsOf collects the facts of messages. An earlier summary among them has the facts of the messages
// that it replaced.
func factsOf(messages []*transcript.Message, plan []transcript.PlanEntry) facts {
	f := facts{plan: plan}
	for _, m := range messages {
		if c := m.Compaction; c != nil {
			f.words, f.files = append(f.words, c.Words...), append(f.files, c.Files...)
			continue
		}
		if isPrompt(m) {
			if said := strings.TrimSpace(m.Typed()); said != "" {
				f.words = append(f.words, said)
			}
		}
		for _, call := range m.Calls() {
			if call.Result != nil {
				f.addFiles(call.Result.Metadata.TrackFiles)
			}
		}
	}
	return f
}

// addFiles adds files at the end, as the last that were changed.
func (f *facts) addFiles(files []string) {
	for _, file := range files {
		f.files = slices.DeleteFunc(f.files, func(known string) bool { return known == file })
		f.files = append(f.files, file)
	}
}

// mostFiles bounds how many files are kept, mostPlan how many lines of the plan are written.
const (
	mostFiles = 100
	mostPlan  = 50
)

// fit shortens the user's words to about size bytes. The first text, which is the task, stays, and the
// last ones. It also bounds the number of files.
func (f *facts) fit(size int) {
	each := max(size/3, leastWords)
	words := make([]string, len(f.words))
	total := 0
	for i, said := range f.words {
		words[i] = middle(said, each)
		total += len(words[i])
	}
	for total > size && len(words) > 2 {
		total -= len(words[1])
		words = slices.Delete(words, 1, 2)
	}
	f.words = words
	f.files = f.files[max(0, len(f.files)-mostFiles):]
}

// leastWords is how many bytes of one text of the user are kept at least.
const leastWords = 200

// text is the facts below a summary, as the model reads them.
func (f *facts) text() string {
	var b strings.Builder
	if len(f.words) > 0 {
		b.WriteString("\nThe user's messages so far, word for word:\n")
		for _, said := range f.words {
			fmt.Fprintf(&b, "> %s\n", strings.ReplaceAll(said, "\n", "\n> "))
		}
	}
	if len(f.plan) > 0 {
		b.WriteString("\nThe plan:\n")
		for _, entry := range f.plan[:min(len(f.plan), mostPlan)] {
			fmt.Fprintf(&b, "- [%s] %s\n", entry.Status, entry.Content)
		}
	}
	if len(f.files) > 0 {
		fmt.Fprintf(&b, "\nFiles changed so far: %s\n", strings.Join(f.files, ", "))
	}
	return b.String()
}
