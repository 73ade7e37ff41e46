package session

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

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

// systemPrompt is the main agent's. It is made by the first turn, when it is known which
// agents there are, and never changes (R138).
func (s *Session) systemPrompt(ctx context.Context, window func() int) string {
	if s.system == "" {
		s.survey(ctx, window)
		e := s.surroundings(s.tools)
		e.Headless = s.spec.Asker == nil
		s.system = s.manifest.System(e)
	}
	return s.system
}

// facts is what agents are told in their first message, because it differs from one session
// to the next: the system prompt is the same for all sessions of a project on a day (R109,
// R138).
//
// The size of results is that of a step of few calls while the window is empty: it is told
// again only when another model has another window.
func (s *Session) facts(window int) string {
	var b strings.Builder
	if scratch := s.work.Session().Scratch; scratch != "" {
		fmt.Fprintf(&b, "- Scratch directory for temporary files, writable without asking: %s\n", scratch)
	}
	if room := s.tools.Room(window, 0, 1); room > 0 {
		fmt.Fprintf(&b, "- A tool result is cut in its middle to %d KB, to less where little of your window is free; the cut names where the rest is. "+
			"Ask for what you need: a range, a filter, a limit.\n", room>>10)
	}
	if b.Len() == 0 {
		return ""
	}
	return "<session_facts>\n" + b.String() + "</session_facts>"
}

// awaitWindow waits, for at most surveyTime, until the server has been asked for the window
// of a model that nothing else tells.
func (s *Session) awaitWindow(ctx context.Context, model string, window func() int) {
	if window() != 0 {
		return
	}
	limit := time.NewTimer(surveyTime)
	defer limit.Stop()
	select {
	case <-s.choices.learn(model).done:
	case <-limit.C:
	case <-ctx.Done():
	}
}

// survey adds to what agents are told of where they work: the repository, the top of the
// tree, and the sandbox, and finds out whether the window is small. What takes longer than
// surveyTime is left out.
func (s *Session) survey(ctx context.Context, window func() int) {
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	e, tokens := &s.environment, window()
	e.Brief = tokens > 0 && tokens < smallWindow
	e.Tree = s.topOfTree(ctx, e.Brief)
	e.Git = gitLine(s.tools.Repository(ctx))
	if report, open, err := s.work.Runner().Sandbox(ctx); err == nil {
		e.Sandbox = sandboxLines(report, open, s.spec.Asker != nil)
	}
}

// gitLine says what is known of the repository; "" without one.
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
func (s *Session) topOfTree(ctx context.Context, brief bool) string {
	call := s.work.Call("survey", "list", nil)
	defer call.Finish()
	entries, more, err := call.FS().List(ctx, s.work.Session().Cwd, treeEntries)
	if err != nil {
		return ""
	}
	most := treeBytes
	if brief {
		most /= 4
	}
	var b strings.Builder
	for _, entry := range entries {
		if entry.Name == ".git" {
			continue
		}
		name := kinds.Line(entry.Name, treeName)
		if entry.IsDir {
			name += "/"
		}
		if b.Len()+len(name)+2 > most || !utf8.ValidString(entry.Name) {
			more = true
			break
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	if more {
		b.WriteString(", …")
	}
	return b.String()
}

// sandboxLines say what commands may do, which failures come of that, and what to do about
// them. open says that commands have the network, attended that a user can allow more.
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

// The tools without which an agent is not told of skills, and of other agents.
const (
	skillTool    = "skill"
	delegateTool = "task"
)

// surroundings are what an agent with these tools is told of where it works.
func (s *Session) surroundings(p *pipeline.Pipeline) subagent.Environment {
	has := func(id string) bool {
		entry, known := s.host.Registry.Get(id)
		return known && p.Why(entry) == ""
	}
	e := s.environment
	if !has(skillTool) {
		e.Skills = ""
	}
	if has(delegateTool) {
		e.Agents = s.Agents().Prompt()
	}
	return e
}
