//go:build unix

package interop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// storedScript is what the model answers before and after the restart. Those
// after it have what was said before.
const storedScript = `{"when":"^repair$","think":"A greeting.","say":"I will repair it.","call":[{"name":"read","args":{"path":"notes.txt"}},{"name":"edit","args":{"path":"greet.sh","old_str":"Helo","new_str":"Hello"}}]}
{"expect":{"last_result":"Edited"},"call":[{"name":"bash","args":{"cmd":"sh ./greet.sh World"}}]}
{"expect":{"last_result":"Hello, World!"},"say":"It greets."}
{"when":"^reject$","call":[{"name":"edit","args":{"path":"greet.sh","old_str":"Hello","new_str":"Goodbye"}}]}
{"expect":{"last_result":"rejected"},"say":"Then it stays."}
{"when":"^and after$","expect":{"messages":8},"say":"I have all of it."}
{"when":"^in the copy$","expect":{"messages":10},"say":"So has the copy."}
{"when":"^in the copy again$","expect":{"messages":12},"say":"Still."}
`

// The steps of the second process.
const (
	storedList = iota
	storedLoad
	storedPrompt
	storedFork
	storedCopy
	storedClose
	storedResume
	storedAgain
	storedBoth
	storedDelete
	storedLeft
)

func storedSteps() []interopStep {
	return []interopStep{
		storedList: {Do: "list"}, storedLoad: {Do: "load"}, storedPrompt: {Do: "prompt", Text: "and after"},
		storedFork: {Do: "fork"}, storedCopy: {Do: "prompt", Text: "in the copy"}, storedClose: {Do: "close"},
		storedResume: {Do: "resume"}, storedAgain: {Do: "prompt", Text: "in the copy again"},
		storedBoth: {Do: "list"}, storedDelete: {Do: "delete"}, storedLeft: {Do: "list"},
	}
}

// TestInterop_Stored has the official SDK take up, in a second process of the agent, what it did
// with the first: it lists the session, loads it and sees what it saw, goes on with it, forks it,
// resumes the copy and deletes it (R142, R146, R147).
func TestInterop_Stored(t *testing.T) {
	t.Parallel()
	job := newInteropJob(t, needInterop(t), interopClient{})
	if err := os.WriteFile(filepath.Join(filepath.Dir(job.Cwd), "model.jsonl"), []byte(storedScript), 0o644); err != nil {
		t.Fatal(err)
	}
	job.Steps = []interopStep{{Do: "prompt", Text: "repair", Answer: "allow"}, {Do: "prompt", Text: "reject", Answer: "reject"}}
	first := drive(t, job)
	judgeLines(t, first)
	storedEnds(t, first, map[int]string{0: "end_turn", 1: "end_turn"})

	job.Session, job.Steps = string(first.Session.SessionID), storedSteps()
	second := drive(t, job)
	judgeLines(t, second)
	storedEnds(t, second, map[int]string{storedPrompt: "end_turn", storedCopy: "end_turn", storedAgain: "end_turn"})
	if diff := cmp.Diff(shownBy(t, first), shownBy(t, second.only(storedLoad))); diff != "" {
		t.Errorf("the replay (-shown before +replayed):\n%s", diff)
	}
	for _, step := range []int{storedFork, storedResume} {
		if shown := shownBy(t, second.only(step)); len(shown) > 0 {
			t.Errorf("step %d showed %+v", step, shown)
		}
	}
	copied := second.Steps[storedFork].Result.SessionID
	for step, want := range map[int][]string{storedList: {job.Session}, storedBoth: {copied, job.Session}, storedLeft: {job.Session}} {
		if diff := cmp.Diff(want, listed(second, step)); diff != "" {
			t.Errorf("the list of step %d (-want +got):\n%s", step, diff)
		}
	}
	for _, report := range []*interopReport{first, second} {
		if report.Exit.Code == nil || *report.Exit.Code != 0 || len(report.Complaints) > 0 || report.Exit.Unfinished != "" {
			t.Errorf("the agent ended with %+v; the SDK complains %q", report.Exit, report.Complaints)
		}
	}
}

// storedEnds checks that each step was answered without an error, and why its turn ended.
func storedEnds(t *testing.T, report *interopReport, reasons map[int]string) {
	t.Helper()
	for i, step := range report.Steps {
		if step.Error != nil || step.Result.StopReason != reasons[i] {
			t.Errorf("step %d ended with %q and error %v, want %q", i, step.Result.StopReason, step.Error, reasons[i])
		}
	}
}

// listed are the sessions that a step listed, by their ids.
func listed(report *interopReport, step int) []string {
	var ids []string
	for _, info := range report.Steps[step].Result.Sessions {
		if info.Title == "repair" {
			ids = append(ids, string(info.SessionID))
		}
	}
	return ids
}

// only is the report of one step.
func (r *interopReport) only(step int) *interopReport {
	at := r.Steps[step]
	return &interopReport{Lines: r.Lines[at.From:at.To]}
}

// shownItem is a text of a message or of a thought, or a call in its last state.
type shownItem struct {
	Kind, Text          string
	ID, Name, Call      string
	Title, State, Shown string
	Diffs               []interopContent
	Data                any
}

// shownBy is what a client shows of a conversation. The user's own words are in the prompts that
// it sent, or in the replay.
func shownBy(t *testing.T, report *interopReport) []shownItem {
	t.Helper()
	var items []shownItem
	add := func(kind, text string) {
		if n := len(items); n > 0 && items[n-1].Kind == kind {
			items[n-1].Text += text
			return
		}
		items = append(items, shownItem{Kind: kind, Text: text})
	}
	calls := map[string]*interopCall{}
	for _, c := range callsOf(t, report) {
		calls[c.id] = c
	}
	agent, client := report.messages(t, "agent"), report.messages(t, "client")
	for i := range report.Lines {
		for _, block := range client[i].Params.Prompt {
			add("user_message_chunk", block.Text)
		}
		update := agent[i].Params.Update
		if update == nil {
			continue
		}
		switch update.Kind {
		case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
			add(update.Kind, update.Content[0].Text)
		case "tool_call":
			items = append(items, shownCall(calls[update.ToolCallID]))
		}
	}
	return items
}

func shownCall(c *interopCall) shownItem {
	item := shownItem{
		Kind: "tool_call", ID: c.id, Name: c.name, Call: c.kind, Title: c.title, State: c.states[len(c.states)-1],
		Shown: c.contents.text(), Data: c.data,
	}
	for _, content := range c.contents {
		if content.Type == "diff" {
			item.Diffs = append(item.Diffs, content)
		}
	}
	return item
}
