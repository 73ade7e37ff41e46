package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/subagent"
	"acp-agent/transcript"
)

// Bounds of what /tasks shows.
const (
	endedTasks = 20 // subagents that have ended, the last ones
	nameRunes  = 120
	askedRunes = 100
)

// tasksForms are the words that may follow /tasks.
const tasksForms = "stop NUMBER | stop all"

// tasksCommand lists the subagents of the session, or stops some of them.
func tasksCommand(tree *subagent.Tree, words []string) string {
	switch {
	case len(words) == 0:
		return listTasks(tree)
	case len(words) == 2 && words[0] == "stop" && words[1] == "all":
		return stopTasks(tree)
	case len(words) == 2 && words[0] == "stop":
		return stopTask(tree, words[1])
	}
	return "`/tasks` lists the subagents of this session. After it may follow: `" + tasksForms + "`.\n"
}

// listTasks lists the subagents that run or wait, and the last ones that have ended. They are
// numbered in the order of their requests, so that a number does not change.
func listTasks(tree *subagent.Tree) string {
	records := tree.Records()
	over := 0
	for _, r := range records {
		if r.State.Terminal() {
			over++
		}
	}
	if len(records) == 0 {
		return "No subagents were started in this session.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Subagents**: %d running or waiting, %d ended\n\n", len(records)-over, over)
	now, hidden := time.Now(), over-endedTasks
	for i, r := range records {
		if r.State.Terminal() && hidden > 0 {
			hidden--
			continue
		}
		b.WriteString(taskLine(i+1, r, now))
	}
	if over < len(records) {
		b.WriteString("\n`/tasks stop NUMBER` stops one of them and all below it, `/tasks stop all` stops all.\n")
	}
	return b.String()
}

// taskLine is a subagent as an item of a bulleted list: in a numbered one Markdown would count itself.
func taskLine(number int, r transcript.ChildRecord, now time.Time) string {
	state := string(r.State)
	if r.Background {
		state += ", in the background"
	}
	if r.AwaitsUser && !r.State.Terminal() {
		state += ", waits for your answer"
	}
	facts := []string{r.Elapsed(now).Truncate(time.Second).String()}
	if r.Calls > 0 {
		facts = append(facts, fmt.Sprintf("tool calls: %d", r.Calls))
	}
	if n := r.Usage.Total(); n > 0 {
		facts = append(facts, fmt.Sprintf("tokens: %d", n))
	}
	line := fmt.Sprintf("- **%d** %s %s (`%s`): %s; %s", number, taskName(r), state, r.ID, strings.Join(facts, ", "), kinds.Code(r.Prompt, askedRunes))
	if r.Note != "" {
		line += "; " + kinds.Code(r.Note, askedRunes)
	}
	return line + "\n"
}

// taskName is the path of a subagent's names.
func taskName(r transcript.ChildRecord) string {
	return kinds.Code(transcript.PathText(r.Path), nameRunes)
}

// stopTask stops the subagent of a number or an id, and all below it.
func stopTask(tree *subagent.Tree, which string) string {
	number, _ := strconv.Atoi(which)
	for i, r := range tree.Records() {
		if i+1 != number && r.ID != which {
			continue
		}
		if !tree.Stop(r.ID) {
			return fmt.Sprintf("Subagent %d, %s, has ended already.\n", i+1, taskName(r))
		}
		return fmt.Sprintf("Stopped subagent %d, %s.\n", i+1, taskName(r))
	}
	return fmt.Sprintf("There is no subagent %s. `/tasks` lists them.\n", kinds.Code(which, nameRunes))
}

// stopTasks stops all subagents. What spawned them goes on.
func stopTasks(tree *subagent.Tree) string {
	stopped := 0
	for _, r := range tree.Records() {
		if tree.Stop(r.ID) {
			stopped++
		}
	}
	if stopped == 0 {
		return "No subagent is running.\n"
	}
	return "Stopped " + kinds.Count(stopped, "subagent") + ".\n"
}
