//go:build unix

package interop

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// handshake checks the answers to initialize and session/new.
func (r *interopRun) handshake() {
	r.Helper()
	if got := r.report.Initialized; got.ProtocolVersion != 1 || got.AgentInfo == nil || got.AgentInfo.Name != "acp-agent" || len(got.AuthMethods) == 0 {
		r.Errorf("initialize answered %+v", got)
	}
	session := r.report.Session
	if session.SessionID == "" || session.Modes == nil || session.Modes.CurrentModeID != "ask" || len(session.ConfigOptions) == 0 {
		r.Errorf("session/new answered %+v", session)
	}
}

// order checks that an update belongs to a running turn, or is of a kind that may come at
// any time after the answer to session/new, and that each call ended within its turn.
func (r *interopRun) order() {
	r.Helper()
	agent, client := r.report.messages(r.T, "agent"), r.report.messages(r.T, "client")
	anytime := []string{"available_commands_update", "config_option_update", "current_mode_update", "session_info_update"}
	asked := map[int]string{} // the client's requests without an answer
	prompts, created := 0, false
	for i := range r.report.Lines {
		if m, ok := client[i]; ok {
			if m.ID != nil && m.Method != "" {
				asked[*m.ID] = m.Method
			}
			if m.Method == "session/prompt" {
				prompts++
			}
			continue
		}
		m := agent[i]
		switch {
		case m.Params.Update != nil && !created:
			r.Errorf("line %d: an update before the answer to session/new", i)
		case m.Params.Update != nil && prompts == 0 && !slices.Contains(anytime, m.Params.Update.Kind):
			r.Errorf("line %d: a %s outside a turn", i, m.Params.Update.Kind)
		case m.Method == "" && m.ID != nil:
			created = created || asked[*m.ID] == "session/new"
			if asked[*m.ID] == "session/prompt" {
				prompts--
				r.settled(i)
			}
			delete(asked, *m.ID)
		}
	}
	if len(asked) > 0 {
		r.Errorf("requests without an answer: %v", asked)
	}
}

// settled checks that every call that was opened before a turn's answer has ended.
func (r *interopRun) settled(answer int) {
	r.Helper()
	for _, c := range r.calls {
		last := c.states[len(c.states)-1]
		if c.opened < answer && (c.ended > answer || last != "completed" && last != "failed") {
			r.Errorf("call %s (%s) is %s at line %d, when its turn has been answered", c.id, c.title, last, answer)
		}
	}
}

// callsIn returns the calls of a step.
func (r *interopRun) callsIn(step int) []*interopCall {
	var calls []*interopCall
	for _, c := range r.calls {
		if at := r.report.Steps[step]; at.From <= c.opened && c.opened < at.To {
			calls = append(calls, c)
		}
	}
	return calls
}

// cards checks what each call was called and how it ended, and what the user was shown
// before it ran.
func (r *interopRun) cards() {
	r.Helper()
	lastEdit := "completed"
	if r.client.read && !r.client.write {
		lastEdit = "failed" // the editor's unsaved text could only be overwritten
	}
	type card struct{ Name, Kind, Title, States string }
	want := map[int][]card{
		stepRepair: {
			{"read", "read", "Read notes.txt", "pending in_progress completed"},
			{"edit", "edit", "Edit greet.sh", "pending in_progress completed"},
			{"bash", "execute", r.commandTitle(command), "pending in_progress completed"},
		},
		stepReject:         {{"edit", "edit", "Edit greet.sh", "pending failed"}},
		stepCancelCommand:  {{"bash", "execute", "echo $$ > pid; echo waiting; sleep 60; echo never (cancelled)", "pending in_progress failed"}},
		stepCancelQuestion: {{"edit", "edit", "Edit greet.sh", "pending failed"}},
		stepEditFreely:     {{"edit", "edit", "Edit notes.txt", "pending in_progress " + lastEdit}},
	}
	got := map[int][]card{}
	for step := range r.report.Steps {
		for _, c := range r.callsIn(step) {
			got[step] = append(got[step], card{c.name, c.kind, c.title, strings.Join(c.states, " ")})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("cards by step (-want +got):\n%s", diff)
	}
	if text := r.said(stepRepair); text != "I will read the notes."+lastText {
		r.Errorf("the first turn said %q", text)
	}
	r.questions()
}

// said joins the text of a step.
func (r *interopRun) said(step int) string {
	var b strings.Builder
	messages := r.report.messages(r.T, "agent")
	for i := r.report.Steps[step].From; i < r.report.Steps[step].To; i++ {
		if u := messages[i].Params.Update; u != nil && u.Kind == "agent_message_chunk" {
			b.WriteString(u.Content[0].Text)
		}
	}
	return b.String()
}

// questions checks the permission requests: of an edit the whole diff, of a command all
// of its text, each asked once its call is open and before it begins.
func (r *interopRun) questions() {
	r.Helper()
	var asked []int
	for i := range r.report.Lines {
		message := r.report.messages(r.T, "agent")[i]
		if message.Params.ToolCall == nil {
			continue
		}
		asked = append(asked, r.question(i, message))
	}
	want := []int{stepRepair, stepRepair, stepReject, stepCancelCommand, stepCancelQuestion}
	if diff := cmp.Diff(want, asked); diff != "" {
		r.Errorf("steps with a question (-want +got):\n%s", diff)
	}
}

// question checks one permission request and returns its step.
func (r *interopRun) question(line int, message interopMessage) int {
	r.Helper()
	shown := message.Params.ToolCall
	at := slices.IndexFunc(r.calls, func(c *interopCall) bool { return c.id == shown.ToolCallID })
	if at < 0 || r.calls[at].opened > line || r.calls[at].started > 0 && r.calls[at].started < line {
		r.Fatalf("line %d: a question about call %s, which is not waiting", line, shown.ToolCallID)
	}
	step := slices.IndexFunc(r.report.Steps, func(s interopOutcome) bool { return s.From <= line && line < s.To })
	switch shown.Name {
	case "edit":
		before, after := greetBefore, greetAfter
		if step != stepRepair {
			before, after = after, strings.Replace(after, "Hello", "Goodbye", 1)
			if r.client.owns() {
				before, after = before+"\n", after+"\n" // as the editor saved it
			}
		}
		want := interopContent{Type: "diff", Path: r.path("greet.sh"), OldText: before, NewText: after}
		if len(shown.Content) == 0 || shown.Content[0] != want {
			r.Errorf("line %d: the question shows %+v, want %+v first", line, shown.Content, want)
		}
	case "bash":
		full, _ := shown.RawInput["cmd"].(string)
		if full == "" || !strings.Contains(shown.Content.text(), full) || shown.Title != r.commandTitle(full) {
			r.Errorf("line %d: the question about %q is titled %q and shows %q", line, full, shown.Title, shown.Content.text())
		}
	}
	var kinds []string
	for i, option := range message.Params.Options {
		if i == standardOptions && i == len(message.Params.Options)-1 && option.Kind == "allow_always" {
			continue // the same rule for the project (R152)
		}
		kinds = append(kinds, option.Kind)
	}
	for _, kind := range []string{"allow_once", "reject_once"} {
		if !slices.Contains(kinds, kind) {
			r.Errorf("line %d: no option %s among %q", line, kind, kinds)
		}
	}
	if slices.Sort(kinds); len(slices.Compact(kinds)) != len(kinds) {
		r.Errorf("line %d: two options of one kind among %q", line, kinds)
	}
	return step
}

// standardOptions are the options that a question has before the one for the project.
const standardOptions = 4

// commands checks how the output of commands was shown, and that the client's terminals
// were let go of.
func (r *interopRun) commands() {
	r.Helper()
	const output = "Hello, World!\nsecond\n"
	ran := r.callsIn(stepRepair)
	if len(ran) != 3 {
		return // cards has reported it
	}
	c := ran[2]
	terminals := r.report.Terminals
	switch {
	case r.client.meta:
		if info := c.first.Meta.TerminalInfo; info == nil || info.ID != c.id || len(c.contents) != 1 || c.contents[0].TerminalID != c.id {
			r.Errorf("the terminal of call %s: info %v, content %+v", c.id, info, c.contents)
		}
		if c.output != output || c.exit == nil || *c.exit != 0 {
			r.Errorf("the terminal got %q and exit %v", c.output, c.exit)
		}
	case r.client.terminal:
		if len(terminals) != 2 || len(c.contents) != 1 || c.contents[0].TerminalID != terminals[0].ID || terminals[0].Output != output {
			r.Errorf("terminals %+v, the card shows %+v", terminals, c.contents)
		}
	case !strings.Contains(c.contents.text(), output):
		r.Errorf("the card shows %q, want %q in it", c.contents.text(), output)
	}
	if !r.client.clientTerminal() && len(terminals) > 0 {
		r.Errorf("%d terminals of the client were used", len(terminals))
	}
	for _, terminal := range terminals {
		if !terminal.Released {
			r.Errorf("terminal %s was not released", terminal.ID)
		}
	}
}

// options checks that both ways to set the mode answer and are announced. An answer that
// carries the options announces them.
func (r *interopRun) options() {
	r.Helper()
	messages := r.report.messages(r.T, "agent")
	for step, mode := range map[int]string{stepCodeMode: "code", stepAskOption: "ask"} {
		announced := map[string]bool{}
		for i := r.report.Steps[step].From; i < r.report.Steps[step].To; i++ {
			if u := messages[i].Params.Update; u != nil {
				announced[u.Kind] = u.Kind != "current_mode_update" || u.CurrentModeID == mode
			}
		}
		if !announced["current_mode_update"] || !announced["config_option_update"] && step != stepAskOption {
			r.Errorf("mode %s was announced with %v", mode, announced)
		}
	}
	for _, option := range r.report.Steps[stepAskOption].Result.ConfigOptions {
		if option.ID == "mode" && option.CurrentValue == "ask" {
			return
		}
	}
	r.Errorf("session/set_config_option answered %+v", r.report.Steps[stepAskOption].Result.ConfigOptions)
}

// commandTitle is the title of a command: one line, but where it labels a terminal of ours.
func (r *interopRun) commandTitle(cmd string) string {
	if r.client.meta {
		return cmd
	}
	return strings.ReplaceAll(cmd, "\n", " ↵ ")
}
