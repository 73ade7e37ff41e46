package session

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"acp-agent/commands"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// customCommands are the slash commands from Markdown files: the user's own, and those of the
// project while the user trusts it. They are safe for concurrent use.
type customCommands struct {
	opened
	project *project
	// changed is called when refresh has found other commands than before.
	changed func()

	// readMu is held from a read of the disk to its effect, so that the later read counts.
	readMu sync.Mutex

	mu  sync.Mutex // guards set
	set *commands.Set
}

// current are the commands that were read last.
func (c *customCommands) current() *commands.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set
}

// refresh reads the user's files again, and takes the project's files from its last read. It is called
// after each read of the project: before each turn, and when trust may have changed.
func (c *customCommands) refresh() {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	snapshot, trusted, _ := c.project.lastRead()
	user := c.host.Manifests
	set := commands.Load(commands.Options{
		Home: user.Home, ConfigHome: user.ConfigHome, Secret: c.secrets.holds,
		Dir: c.project.dir, Project: snapshot, Trusted: trusted, Taken: isOwnCommand, Tape: c.host.Tape,
	})
	c.mu.Lock()
	before := c.set
	c.set = set
	c.mu.Unlock()
	same := func(a, b commands.Command) bool {
		return a.Name == b.Name && a.Description == b.Description && a.Hint == b.Hint
	}
	if before != nil && !slices.EqualFunc(before.All(), set.All(), same) {
		c.changed()
	}
}

// isOwnCommand reports whether the agent itself answers a command of this name.
func isOwnCommand(name string) bool {
	return slices.ContainsFunc(slashCommands(), func(c slashCommand) bool { return c.name == name })
}

// list lists the commands for editors.
func (c *customCommands) list() []Command {
	var list []Command
	for _, command := range c.current().All() {
		list = append(list, Command{Name: command.Name, Description: command.Description, Hint: command.Hint})
	}
	return list
}

// commandOf finds the command that a prompt is; a mention in the prompt is one of its arguments. The
// command has no name when the prompt is none. untrusted is the name of a command that is not there
// because its project is not trusted.
func (c *customCommands) commandOf(prompt *transcript.Message) (found commands.Command, rest string, untrusted string) {
	texts := commandTexts(prompt)
	texts[len(texts)-1] = wordsOf(prompt)
	set := c.current()
	for _, text := range texts {
		name, rest, ok := typed(text)
		if !ok {
			continue
		}
		if found, ok := set.Get(name); ok {
			return found, rest, ""
		}
		if slices.Contains(set.Untrusted(), name) {
			return found, rest, name
		}
	}
	return found, "", ""
}

// isCommand reports whether a prompt is a command from a file, also of a project that is not trusted.
func (c *customCommands) isCommand(prompt *transcript.Message) bool {
	found, _, untrusted := c.commandOf(prompt)
	return found.Name != "" || untrusted != ""
}

// notices say which files of commands are not used.
func (c *customCommands) notices() []transcript.Notice {
	var list []transcript.Notice
	set := c.current()
	for _, problem := range set.Problems() {
		list = append(list, transcript.Notice{Severity: transcript.Warning, Title: "Commands", Text: problem})
	}
	if names := set.Untrusted(); len(names) > 0 {
		list = append(list, transcript.Notice{Severity: transcript.Info, Title: "Project's commands", Text: fmt.Sprintf(
			"The project has %s of its own (%s). None is there before you trust the project: /trust shows them and asks.",
			kinds.Count(len(names), "command"), commandNames(names))})
	}
	return list
}

// commandNames names commands in one line.
func commandNames(names []string) string {
	const most = 20
	var list []string
	for _, name := range names {
		list = append(list, "/"+kinds.Line(name, lineRunes))
	}
	return strings.Join(firstOf(list, most), ", ")
}

// withoutEffect says what in a command's file has no effect in this agent; "" when all of it has.
func withoutEffect(c commands.Command) string {
	var list []string
	if c.Shell {
		list = append(list, "what stands in !`…` is not run: the model reads it as text, and asks before it runs any of it")
	}
	if len(c.Ignored) > 0 {
		verb := "has"
		if len(c.Ignored) > 1 {
			verb = "have"
		}
		list = append(list, fmt.Sprintf("%s in its file %s no effect here", kinds.Names(c.Ignored), verb))
	}
	return strings.Join(list, "; ")
}
