package skills

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"acp-agent/internal/textcut"
)

// frontMatter is what the agent uses of a SKILL.md's head. Its other fields, such
// as license and allowed-tools, are for others.
type frontMatter struct {
	name, description string
}

// errNoFrontMatter is said of a file whose first line is not "---" or that has
// no second such line in what was read of it.
var errNoFrontMatter = fmt.Errorf("has no front matter between two lines of --- in its first %d bytes", maxFrontMatter)

// parseFrontMatter reads the front matter of a SKILL.md, of which data is the
// beginning.
func parseFrontMatter(data []byte) (frontMatter, error) {
	head, _, ok := split(data)
	if !ok {
		return frontMatter{}, errNoFrontMatter
	}
	// The line of the first fence is counted in errors.
	document, err := FrontMatter("\n" + string(head))
	if err != nil {
		return frontMatter{}, fmt.Errorf("has faulty front matter: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return readFields(document)
}

// FrontMatter parses the YAML between the fences of a Markdown file for agents. A
// name or description that YAML takes for something else, such as "description:
// Use when: ...", is read as it is meant. Errors and nodes count lines from the
// beginning of text.
func FrontMatter(text string) (*yaml.Node, error) {
	text = strings.ToValidUTF8(text, "\ufffd")
	var document yaml.Node
	err := yaml.Unmarshal([]byte(text), &document)
	if err != nil {
		// Others take it as it is meant.
		var again yaml.Node
		if yaml.Unmarshal([]byte(quotePlain(text)), &again) == nil {
			document, err = again, nil
		}
	}
	return &document, err
}

// readFields takes the fields from the parsed text. It goes through the nodes
// itself because decoding into a struct compares all keys with each other, which
// takes seconds for 8 KB made to that end.
func readFields(document *yaml.Node) (frontMatter, error) {
	var m frontMatter
	if len(document.Content) == 0 {
		return m, nil
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return m, errors.New("has faulty front matter: it is no list of fields")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i].Value, top.Content[i+1]
		if key != "name" && key != "description" {
			continue
		}
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if value.Kind != yaml.ScalarNode {
			return frontMatter{}, fmt.Errorf("has faulty front matter: the %s is no text", key)
		}
		if seen[key] {
			return frontMatter{}, fmt.Errorf("has faulty front matter: it has two fields called %s", key)
		}
		seen[key] = true
		text := strings.TrimSpace(value.Value)
		switch {
		case value.ShortTag() == "!!null":
		case key == "name":
			m.name = text
		default:
			m.description = text
		}
	}
	return m, nil
}

// split cuts a SKILL.md in front matter and body.
func split(data []byte) (head, body []byte, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(data, []byte{'\n'})
	if !isFence(first) {
		return nil, data, false
	}
	for at := 0; at < len(rest); {
		line, _, ended := bytes.Cut(rest[at:], []byte{'\n'})
		next := at + len(line)
		if ended {
			next++
		}
		if isFence(line) {
			return rest[:at], rest[next:], true
		}
		at = next
	}
	return nil, data, false
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }

// plainValue matches a field whose value is one line without quotes or other
// YAML syntax at its start.
var plainValue = regexp.MustCompile("(?m)^(name|description):[ \t]+([^\\s\"'\\[\\]{}|>&*!%@`#?-][^\r\n]*?)[ \t\r]*$")

// quotePlain puts quotes around plain values, in which a colon or a # is then
// no syntax.
func quotePlain(text string) string {
	return plainValue.ReplaceAllStringFunc(text, func(line string) string {
		m := plainValue.FindStringSubmatch(line)
		return m[1] + ": '" + strings.ReplaceAll(m[2], "'", "''") + "'"
	})
}

// validName reports whether a skill may have the name: 1 to 64 lower-case
// letters, digits and hyphens.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// identify judges the front matter of a skill in a folder of this name, "" when it
// has none. A note is said of a skill that can be used nevertheless.
func (m frontMatter) identify(folder string) (name, note string, err error) {
	name = m.name
	if name == "" && validName(folder) {
		name, note = folder, "has no name; the folder's is taken"
	}
	switch {
	case name == "":
		return "", "", errors.New("has no name")
	case !validName(name):
		return "", "", fmt.Errorf("has the name %q; names are 1 to 64 of a-z, 0-9 and hyphens", textcut.First(name, 80))
	case m.description == "":
		return "", "", errors.New("has no description")
	case folder != "" && folder != name:
		note = fmt.Sprintf("has the name %q, which is not its folder's; it is known by this name", name)
	}
	return name, note, nil
}
