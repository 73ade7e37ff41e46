package session

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/sandbox"
	"acp-agent/subagent"
	"acp-agent/tools/pipeline"
)

const (
	// surveyTime bounds how long the first turn waits for what git and the file system
	// say of the project.
	surveyTime = 2 * time.Second
	// treeEntries, treeBytes and treeName bound the line about the top of the tree; a small
	// window has a quarter of its bytes.
	treeEntries = 200
	treeBytes   = 1 << 10
	treeName    = 60
	// smallWindow is the size in tokens below which a model is told less (R138).
	smallWindow = 64_000
)

// briefing makes the system prompt of a session's agents, and the reminders in their conversations
// (reminders.go). A turn makes the prompt before its agents run.
type briefing struct {
	opened
	choices *choices
	agents  *agents
	sources *sources

	context     systemContext
	environment subagent.Environment
	system      string // of the main agent; "" until the first turn
	// began is what the session saw when it was new; nil before its first turn. A resumed session
	// has what was stored, because the system prompt must not change (R138).
	began *beginning
}

// machineForm is what a recording keeps of where a session runs.
type machineForm struct {
	OS, Shell string
	Date      time.Time
}

// beginning is what a session saw when it began.
type beginning struct {
	Date time.Time `json:"date"`
	Tree string    `json:"tree,omitempty"`
	Git  string    `json:"git,omitempty"`
}

// newEnvironment is what is known of a session's surroundings when it opens.
func newEnvironment(o opened, system systemContext) subagent.Environment {
	here := record.Value(o.host.Tape, "machine", "", func() machineForm {
		return machineForm{OS: runtime.GOOS + "/" + runtime.GOARCH, Shell: o.host.Shell, Date: time.Now()}
	})
	return subagent.Environment{
		Cwd: o.work.Session().Cwd, Additional: o.work.Session().Roots[1:],
		OS: here.OS, Shell: here.Shell, Date: here.Date,
		Instructions: system.instructions.Text, Skills: system.skills.Prompt(),
	}
}

// systemPrompt returns the system prompt of the main agent. The first turn makes it, when the tools and
// agents are known, and it never changes (R138).
func (b *briefing) systemPrompt(ctx context.Context, window func() int) string {
	if b.system == "" {
		b.survey(ctx, window)
		e := b.surroundings(b.agents.tools)
		e.Headless = b.spec.Asker == nil
		b.system = b.agents.manifest.System(e)
	}
	return b.system
}

// facts are stated in an agent's first message and not in its system prompt, because they differ
// between sessions: the system prompt is the same for all sessions of a project on a day (R109, R138).
//
// The size of results is that of a step of one call while the window is empty. It is stated again
// only when another model has another window.
func (b *briefing) facts(window int) string {
	var text strings.Builder
	if scratch := b.work.Session().Scratch; scratch != "" {
		fmt.Fprintf(&text, "- Scratch directory for temporary files, writable without asking: %s\n", scratch)
	}
	if size := b.agents.tools.ModelBytes(window, 0, 1); size > 0 {
		fmt.Fprintf(&text, "- A tool result is cut in its middle to %d KB, to less where little of your window is free; the cut names where the rest is. "+
			"Ask for what you need: a range, a filter, a limit.\n", size>>10)
	}
	if text.Len() == 0 {
		return ""
	}
	return "<session_facts>\n" + text.String() + "</session_facts>"
}

// surveyed is what a survey found.
type surveyed struct {
	Began   *beginning
	Sandbox string
}

// survey completes the environment of the system prompt: the repository, the top of the tree, the
// sandbox, and whether the window is small. What takes longer than surveyTime is left out.
func (b *briefing) survey(ctx context.Context, window func() int) {
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	e, tokens := &b.environment, window()
	e.Brief = tokens > 0 && tokens < smallWindow
	found := record.Await(b.host.Tape, "survey", b.ID, func() surveyed {
		s := surveyed{Began: b.began}
		if s.Began == nil {
			s.Began = &beginning{Date: e.Date, Tree: b.topOfTree(ctx, e.Brief), Git: gitLine(b.agents.tools.Repository(ctx))}
		}
		if report, open, err := b.work.Runner().Sandbox(ctx); err == nil {
			s.Sandbox = sandboxLines(report, open, b.spec.Asker != nil)
		}
		return s
	})
	if found.Began == nil { // the recording has no answer
		found.Began = &beginning{Date: e.Date}
	}
	b.began, e.Sandbox = found.Began, found.Sandbox
	e.Date, e.Tree, e.Git = b.began.Date, b.began.Tree, b.began.Git
}

// gitLine describes the repository; "" without one.
func gitLine(repository pipeline.Repository, ok bool) string {
	if !ok {
		return ""
	}
	line := "branch " + kinds.Line(repository.Branch, 2*treeName)
	if strings.HasPrefix(repository.Branch, "detached") {
		line = kinds.Line(repository.Branch, 2*treeName)
	}
	switch {
	case !repository.Known:
		return line
	case repository.Changed == 0:
		return line + ", nothing uncommitted when the session began"
	}
	return fmt.Sprintf("%s, %s uncommitted when the session began: not your work, keep it", line, kinds.Count(repository.Changed, "change"))
}

// topOfTree lists the working directory in one line, directories with a slash.
func (b *briefing) topOfTree(ctx context.Context, brief bool) string {
	call := b.work.Call("survey", "list", nil)
	defer call.Finish()
	entries, more, err := call.FS().List(ctx, b.work.Session().Cwd, treeEntries)
	if err != nil {
		return ""
	}
	most := treeBytes
	if brief {
		most /= 4
	}
	var line strings.Builder
	for _, entry := range entries {
		if entry.Name == ".git" {
			continue
		}
		name := kinds.Line(entry.Name, treeName)
		if entry.IsDir {
			name += "/"
		}
		if line.Len()+len(name)+2 > most || !utf8.ValidString(entry.Name) {
			more = true
			break
		}
		if line.Len() > 0 {
			line.WriteString(", ")
		}
		line.WriteString(name)
	}
	if more {
		line.WriteString(", …")
	}
	return line.String()
}

// sandboxLines tell the model what commands may do, which failures the sandbox causes, and what to do
// about them. open says that commands have the network, attended that a user can allow more.
func sandboxLines(report sandbox.Report, open, attended bool) string {
	switch {
	case report.Refused != "":
		return "- Commands are refused: " + report.Refused + "\n"
	case !report.Confines():
		return "- Nothing confines commands here but the user's answers and rules. Change nothing outside of the project with them.\n"
	}
	network := "They have no network but where the user allows it."
	if open {
		network = "The network is open to them."
	}
	more := "Do not work around that: send the same command again, and the user is asked to allow what it needs."
	if !attended {
		network = strings.Replace(network, "the user allows", "a rule allows", 1)
		more = "Do not work around that: no one is here to allow more. Name what was needed."
	}
	return fmt.Sprintf(`- Commands run in a sandbox (%s). They write only in the project, the scratch directory and /tmp; secrets are hidden from them.
- %s
- "Read-only file system", "permission denied" and hosts that cannot be resolved may be its doing, not the project's.
- %s
`, report.Kind, network, more)
}

// Without these tools an agent's system prompt has no skills, and no other agents.
const (
	skillTool    = "skill"
	delegateTool = "task"
)

// surroundings is the environment in the system prompt of an agent with the tools of p.
func (b *briefing) surroundings(p *pipeline.Pipeline) subagent.Environment {
	has := func(id string) bool {
		entry, known := b.host.Registry.Get(id)
		return known && p.WhyAbsent(entry) == ""
	}
	e := b.environment
	if !has(skillTool) {
		e.Skills = ""
	}
	if has(delegateTool) {
		e.Agents = b.agents.manifests().Prompt()
	}
	return e
}
