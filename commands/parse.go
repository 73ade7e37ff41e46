package commands

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/strictread"
	"acp-agent/kinds"
)

// Limits of one file, and of its text in lists.
const (
	// maxFile bounds the size of a file, in bytes.
	maxFile  = 64 << 10
	maxNodes = 500
	// maxDescription and maxHint are in characters.
	maxDescription, maxHint = 200, 100
)

// ignoredFields have an effect in other programs, but not here: a file grants no tool, and the user
// chooses the model, the mode and the agent.
var ignoredFields = []string{
	"agent", "allowed-tools", "context", "disallowed-tools", "effort", "hooks", "mode", "model", "paths", "permission", "permissions",
	"shell", "subagent", "subtask", "template", "tools",
}

// parse parses a file. An error says in one line why it is no command.
func parse(name string, l layout, data []byte) (Command, error) {
	c := Command{Name: name, layout: l, text: string(data)}
	if !typeable(name) {
		return c, errors.New("is not used: its name cannot be typed as a command")
	}
	front, body, err := strictread.Split(data)
	if err != nil && !errors.Is(err, strictread.ErrNoFence) {
		return c, err
	}
	if err == nil {
		if err := c.read(front); err != nil {
			return c, err
		}
	}
	c.body = strings.TrimSpace(kinds.Visible(strings.ReplaceAll(string(body), "\r\n", "\n")))
	if c.body == "" {
		return c, errors.New("has no text that could be a prompt")
	}
	c.Shell = shell().MatchString(c.body)
	c.Description = kinds.Line(cmp.Or(c.Description, firstLine(c.body)), maxDescription)
	c.Hint = kinds.Line(cmp.Or(c.Hint, c.namesHint(), "[arguments]"), maxHint)
	return c, nil
}

// shell matches commands that other agents run before the model reads the text: !`command`, and a block
// that begins with ```!.
var shell = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?m)(?:^|[\\s(:])!`[^`\n]+`|^[ \t]*```!") })

// read sets the fields of the command from the front matter.
func (c *Command) read(front []byte) error {
	top, err := frontMatter(front)
	if err != nil {
		return err
	}
	if top.Kind != strictread.Object {
		return errors.New("its front matter is not a list of fields")
	}
	for _, m := range top.Members {
		switch name := m.Name; {
		case name == "description":
			c.Description, err = text(m)
		case name == "argument-hint":
			c.Hint, err = text(m)
		case name == "arguments" && c.layout != opencodeLayout:
			c.names = words(m.Value)
		case name == "user-invocable":
			c.hidden = m.Value.Text == "false"
		case slices.Contains(ignoredFields, name) && m.Value.Kind != strictread.Null && !slices.Contains(c.Ignored, name):
			c.Ignored = append(c.Ignored, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// frontMatter parses front matter as other programs do: they take a field of one line as a text, although
// YAML reads it as something else, such as "argument-hint: [file] [focus]".
func frontMatter(front []byte) (*strictread.Node, error) {
	o := strictread.Options{MaxNodes: maxNodes, Tolerant: true}
	top, err := strictread.FrontMatter(quoted(front, hintField()), o)
	if err != nil {
		if again, err := strictread.FrontMatter(quoted(front, anyField()), o); err == nil {
			return again, nil
		}
		if mistake, ok := errors.AsType[*strictread.Error](err); ok {
			return nil, fmt.Errorf("line %d: its front matter is not valid: %s", mistake.Line, mistake.Text())
		}
	}
	return top, err
}

// hintField and anyField match a field with a value of one line that is not quoted.
var (
	hintField = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(argument-hint):[ \t]+([^\s"'|>][^\r\n]*?)[ \t\r]*$`)
	})
	anyField = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^([A-Za-z_-]+):[ \t]+([^\s"'|>][^\r\n]*?)[ \t\r]*$`)
	})
)

// quoted puts quotes around the values of the fields that a pattern matches.
func quoted(front []byte, field *regexp.Regexp) []byte {
	return field.ReplaceAllFunc(front, func(line []byte) []byte {
		m := field.FindSubmatch(line)
		return fmt.Appendf(nil, "%s: '%s'", m[1], strings.ReplaceAll(string(m[2]), "'", "''"))
	})
}

// text is the value of a field that holds a text.
func text(m strictread.Member) (string, error) {
	switch {
	case m.Value.Kind == strictread.Null:
		return "", nil
	case !m.Value.Scalar():
		return "", fmt.Errorf("line %d: %s: expects a text", m.At.Line, m.Name)
	}
	return strings.TrimSpace(m.Value.Text), nil
}

// words is the value of a field with names: a list, or one text with spaces between them. Other items,
// such as descriptions of arguments, are skipped.
func words(value *strictread.Node) (list []string) {
	if value.Kind == strictread.Text {
		return strings.Fields(value.Text)
	}
	for _, item := range value.Items {
		if name := strings.TrimSpace(item.Text); item.Kind == strictread.Text && name != "" {
			list = append(list, name)
		}
	}
	return list
}

// firstLine is the first line of a text that has more than marks of Markdown.
func firstLine(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "#*-_=> \t")); line != "" {
			return line
		}
	}
	return "A command from a file."
}

func (c *Command) namesHint() string {
	var list []string
	for _, name := range c.names {
		list = append(list, "["+name+"]")
	}
	return strings.Join(list, " ")
}
