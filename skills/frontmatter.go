package skills

import (
	"errors"
	"fmt"
	"strings"

	"acp-agent/internal/strictread"
	"acp-agent/internal/textcut"
)

// frontMatter is what the agent uses of the front matter of a SKILL.md. Its other fields, such
// as license and allowed-tools, are for others.
type frontMatter struct {
	name, description string
}

// errNoFrontMatter reports a file whose first line is not "---" or that has
// no second such line in what was read of it.
var errNoFrontMatter = fmt.Errorf("has no front matter between two lines of --- in its first %d bytes", maxFrontMatter)

// parseFrontMatter reads the front matter of a SKILL.md, of which data is the
// beginning.
func parseFrontMatter(data []byte) (frontMatter, error) {
	head, _, err := strictread.Split(data)
	if err != nil {
		return frontMatter{}, errNoFrontMatter
	}
	top, err := strictread.FrontMatter(head, strictread.Options{Tolerant: true})
	if err != nil {
		return frontMatter{}, faulty(err)
	}
	return readFields(top)
}

// faulty is the error of front matter that cannot be used.
func faulty(err error) error { return fmt.Errorf("has faulty front matter: %w", err) }

// readFields takes the fields from the parsed text.
func readFields(top *strictread.Node) (frontMatter, error) {
	var m frontMatter
	if top.Kind != strictread.Object {
		return m, faulty(&strictread.Error{Position: top.At, Problem: "it is not a list of fields"})
	}
	texts := map[string]*string{"name": &m.name, "description": &m.description}
	seen := map[string]bool{}
	for _, member := range top.Members {
		text, known := texts[member.Name]
		if !known {
			continue
		}
		problem := ""
		switch {
		case !member.Value.Scalar():
			problem = "expects a text"
		case seen[member.Name]:
			problem = "is set twice; keep one"
		}
		if problem != "" {
			return frontMatter{}, faulty(&strictread.Error{Position: member.At, Field: member.Name, Problem: problem})
		}
		seen[member.Name] = true
		if member.Value.Kind != strictread.Null {
			*text = strings.TrimSpace(member.Value.Text)
		}
	}
	return m, nil
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
