//go:build unix

package interop

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
)

// everythingSteps is one turn in which each of the locked tools is called, and a subagent
// of a subagent edits a file. What each step expects is what the model has to see.
var everythingSteps = []string{
	`{"when": "^everything$", "say": "I plan.", "call": [{"name": "todo", "args": {"todos": [{"content": "all of it", "status": "in_progress"}]}}]}`,
	`{"call": [{"name": "glob", "args": {"filePattern": "*.sh"}}]}`,
	`{"expect": {"last_result": "greet.sh"}, "call": [{"name": "grep", "args": {"pattern": "Helo"}}]}`,
	`{"expect": {"last_result": "Helo"}, "call": [{"name": "read", "args": {"path": "greet.sh"}}]}`,
	`{"expect": {"last_result": "Helo"}, "call": [{"name": "edit", "args": {"path": "greet.sh", "old_str": "Helo", "new_str": "Hello"}}]}`,
	`{"expect": {"last_result": "+echo \"Hello"}, "call": [{"name": "write", "args": {"path": "list.txt", "content": "one"}}]}`,
	`{"expect": {"last_result": "Successfully created"}, "call": [{"name": "bash", "args": {"cmd": "sh ./greet.sh World"}}]}`,
	`{"expect": {"last_result": "Hello, World!"}, "call": [{"name": "question", "args": {"questions": [{"question": "Go on?", "options": [{"label": "yes"}, {"label": "no"}]}]}}]}`,
	`{"expect": {"last_result": "yes"}, "call": [{"name": "web_search", "args": {"query": "greetings"}}]}`,
	`{"expect": {"last_result": "Greetings"}, "call": [{"name": "web_fetch", "args": {"url": "ftp://greetings.invalid/"}}]}`,
	`{"expect": {"last_result": "ftp"}, "call": [{"name": "skill", "args": {"name": "greet"}}]}`,
	`{"expect": {"last_result": "With a smile."}, "call": [{"name": "tool_search", "args": {"query": "formatter"}}]}`,
	`{"expect": {"last_result": "format_file"}, "call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "hand it on"}}]}`,
	`{"expect": {"last_result": "Files changed: list.txt"}, "say": "Everything was called."}`,

	`{"when": "^hand it on$", "say": "I hand it on.", "call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "change the list"}}]}`,
	`{"expect": {"last_result": "Files changed: list.txt"}, "say": "It is changed."}`,
	`{"when": "^change the list$", "call": [{"name": "edit", "args": {"path": "list.txt", "old_str": "one", "new_str": "two"}}]}`,
	`{"expect": {"last_result": "+two"}, "say": "Changed."}`,
}

// everythingClients are an editor that owns files and terminals, one that shows those of
// the agent, and one that offers nothing.
var everythingClients = map[string]interopClient{
	"files and terminals": {read: true, write: true, terminal: true},
	"terminals of ours":   {read: true, write: true, meta: true},
	"nothing":             {},
}

// TestInterop_Everything drives one turn with the client of the official SDK: each locked
// tool is called, with the kind of its own; an edit shows its diff and is one write; a
// command shows a terminal; a question is answered; a subagent at depth 2 edits a file
// after a question that says who asks. It ends the same with a client that offers nothing.
func TestInterop_Everything(t *testing.T) {
	binary := needInterop(t)
	for name, c := range everythingClients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := newEverythingJob(t, binary, c)
			report := drive(t, job)
			run := &interopRun{T: t, client: c, job: job, report: report, calls: callsOf(t, report)}
			judgeLines(t, report)
			run.handshake()
			run.order()
			last, want := report.Steps[len(report.Steps)-1], "I plan.Everything was called."
			if c == (interopClient{}) {
				want = "Everything was called."
			}
			if said := run.said(len(report.Steps) - 1); last.Result.StopReason != "end_turn" || strings.TrimSpace(said) != want {
				t.Fatalf("the last turn ended with %+v and said %q", last, said)
			}
			run.everyTool()
			run.everyEdit()
			run.everyTerminal()
			run.nesting()
			run.exited()
		})
	}
}

func newEverythingJob(t *testing.T, binary string, c interopClient) interopJob {
	t.Helper()
	job := newInteropJob(t, binary, c)
	home := job.Env["HOME"]
	job.Steps = []interopStep{{Do: "prompt", Text: "everything", Answer: "allow", Form: map[string]any{"question_01": "yes"}}}
	job.Buffers = map[string]string{}
	job.Env["ACP_AGENT_CONFIG"] = filepath.Join(home, "config.jsonc")
	steps := strings.Join(everythingSteps, "\n")
	if c == (interopClient{}) { // it is asked in the chat, and answers with a prompt
		job.Steps = append(job.Steps, interopStep{Do: "prompt", Text: "yes", Answer: "allow"})
		steps = strings.Replace(steps, `"expect": {"last_result": "yes"}, "call"`, `"when": "^yes$", "call"`, 1)
	} else {
		capabilities := c.capabilities()
		capabilities["elicitation"] = map[string]any{"form": map[string]any{}}
		job.Capabilities = capabilities
	}
	for path, text := range map[string]string{
		"model.jsonl":                           steps,
		"config.jsonc":                          `{"search": {"providers": [{"type": "scripted", "file": "~/answers.json"}]}}`,
		"answers.json":                          `{"*": {"results": [{"title": "Greetings", "url": "https://greetings.invalid/", "snippet": "Hello."}]}}`,
		"project/.agents/skills/greet/SKILL.md": "---\nname: greet\ndescription: How one greets.\n---\nWith a smile.\n",
	} {
		path = filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return job
}

// call returns the call of that title.
func (r *interopRun) call(title string) *interopCall {
	r.Helper()
	i := slices.IndexFunc(r.calls, func(c *interopCall) bool { return c.title == title })
	if i < 0 {
		r.Fatalf("there is no call %q", title)
	}
	return r.calls[i]
}

// everyTool checks that each locked tool was called, with its kind, and how it ended.
func (r *interopRun) everyTool() {
	r.Helper()
	want := map[string]string{
		"read": "read", "write": "edit", "edit": "edit", "glob": "search", "grep": "search", "bash": "execute", "todo": "other",
		"task": "other", "question": "other", "web_search": "fetch", "web_fetch": "fetch", "skill": "think", "tool_search": "search",
	}
	if locked := kinds.Locked(); len(locked) != len(want) {
		r.Fatalf("%d tools are locked: %q", len(locked), locked)
	}
	got := map[string]string{}
	for _, c := range r.calls {
		got[c.name] = c.kind
		end := "completed"
		if c.name == "web_fetch" {
			end = "failed" // what it was asked for is not a page
		}
		if last := c.states[len(c.states)-1]; last != end {
			r.Errorf("%s (%s) ended %s: %s", c.name, c.title, last, c.contents.text())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("kinds by tool (-want +got):\n%s", diff)
	}
}

// everyEdit checks that each change was asked about with its diff, and made once.
func (r *interopRun) everyEdit() {
	r.Helper()
	end := ""
	if r.client.owns() {
		end = "\n" // as the editor saves
	}
	type change struct{ title, file, before, after string }
	changes := []change{
		{"Edit greet.sh", "greet.sh", greetBefore, greetAfter},
		{"Write list.txt", "list.txt", "", "one\n"},
		{"general › general › Edit list.txt", "list.txt", "one\n" + end, "two\n" + end},
	}
	var wrote, asked []string
	for _, c := range changes {
		wrote = append(wrote, fmt.Sprintf("%s: %q", c.file, c.after))
		shown := r.asked(c.title)
		if shown == nil {
			continue
		}
		asked = append(asked, c.title)
		want := interopContent{Type: "diff", Path: r.path(c.file), OldText: c.before, NewText: c.after}
		if len(shown.Content) == 0 || shown.Content[0] != want {
			r.Errorf("the question about %q shows %+v, want %+v first", c.title, shown.Content, want)
		}
	}
	if len(asked) != len(changes) {
		r.Errorf("the person was asked about %q, of %d changes", asked, len(changes))
	}
	if shown := r.asked(changes[2].title); shown != nil && !strings.Contains(shown.Content.text(), "Asked by: `general > general`") {
		r.Errorf("the question of the subagent does not say who asks: %s", shown.Content.text())
	}
	var got []string
	for _, w := range r.report.Writes {
		got = append(got, fmt.Sprintf("%s: %q", filepath.Base(w.Path), w.Content))
	}
	if !r.client.owns() {
		wrote = nil
	}
	if diff := cmp.Diff(wrote, got); diff != "" {
		r.Errorf("writes through the editor (-want +got):\n%s", diff)
	}
	if end != "" {
		end += end // the editor has saved twice
	}
	if text := r.disk("list.txt"); strings.TrimRight(text, "\n") != "two" || len(text) > len("two\n")+len(end) {
		r.Errorf("list.txt holds %q", text)
	}
}

// asked returns the call in the permission request of that title; nil when there was none.
func (r *interopRun) asked(title string) *interopUpdate {
	messages := r.report.messages(r.T, "agent")
	for _, i := range slices.Sorted(maps.Keys(messages)) {
		if shown := messages[i].Params.ToolCall; shown != nil && shown.Title == title {
			return shown
		}
	}
	return nil
}

// everyTerminal checks that the command was shown running, as the client can show it.
func (r *interopRun) everyTerminal() {
	r.Helper()
	const output = "Hello, World!\n"
	c := r.call("sh ./greet.sh World")
	switch terminals := r.report.Terminals; {
	case r.client.meta:
		if info := c.first.Meta.TerminalInfo; info == nil || info.ID != c.id || c.output != output || c.exit == nil || *c.exit != 0 {
			r.Errorf("a terminal of ours: info %v, output %q, exit %v", info, c.output, c.exit)
		}
	case r.client.terminal:
		if len(terminals) != 1 || len(c.contents) != 1 || c.contents[0].TerminalID != terminals[0].ID || terminals[0].Output != output || !terminals[0].Released {
			r.Errorf("terminals %+v, the card shows %+v", terminals, c.contents)
		}
	case !strings.Contains(c.contents.text(), output) || len(terminals) > 0:
		r.Errorf("the card shows %q, %d terminals", c.contents.text(), len(terminals))
	}
}

// nesting checks both readings of calls within calls. A client that knows of nesting takes
// the parent from any message of a call, so each has it; one that does not is told by the
// title where a call belongs.
func (r *interopRun) nesting() {
	r.Helper()
	type place struct{ Title, Parent string }
	titles := map[string]string{"": ""}
	for _, c := range r.calls {
		titles[c.id] = c.title
	}
	var got []place
	for _, c := range r.calls {
		for _, parent := range c.parents {
			if parent != c.parents[0] {
				r.Errorf("%s has the parents %q", c.title, c.parents)
				break
			}
		}
		if depth := strings.Count(c.title, " › "); depth > 0 || c.parents[0] != "" {
			got = append(got, place{c.title, titles[c.parents[0]]})
		}
	}
	want := []place{
		{"general › hand it on", ""},
		{"general › general › change the list", "general › hand it on"},
		{"general › general › Edit list.txt", "general › general › change the list"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("nested calls (-want +got):\n%s", diff)
	}
	for _, c := range r.calls {
		text, err := json.Marshal(c.contents)
		if err != nil {
			r.Fatal(err)
		}
		if c.title == "general › hand it on" && !strings.Contains(string(text), "list.txt") {
			r.Errorf("the card of the delegating call does not name the changed file: %s", text)
		}
	}
}
