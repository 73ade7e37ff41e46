package skills

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/strictread"
	"acp-agent/internal/textcut"
	"acp-agent/kinds"
)

// Sizes of skills (R85).
const (
	// maxSkills bounds the index.
	maxSkills = 200
	// maxDescription bounds the line of a skill in the index, in runes.
	maxDescription = 300
	// maxFrontMatter is what is read of a SKILL.md to index it, in bytes.
	maxFrontMatter = 8 << 10
	// maxBody bounds what is read of a SKILL.md and what is made of it, in bytes;
	// with its frame it stays under the general limit of a tool's result.
	maxBody = 100_000
)

// Library is the skills of a session. Its index never changes (R85). It may be
// used by several goroutines.
type Library struct {
	skills []*skill
	byName map[string]*skill
}

// Entry is one skill of the index.
type Entry struct {
	// Name is unique.
	Name string
	// Description is one visible line.
	Description string
}

// skill is one skill and where it comes from.
type skill struct {
	Entry
	// origin is the file or URL, for messages; real identifies it, without links;
	// dir is its folder, "" when it has none on the disk.
	origin, real, dir string
	// read returns the first bytes of the SKILL.md, at most maxBody + 1.
	read func() ([]byte, error)

	mu      sync.Mutex
	content string // "" until it was loaded
}

// Listed returns a library of skills of which no more is known than the index.
func Listed(index []Entry) *Library {
	l := &Library{byName: map[string]*skill{}}
	for _, entry := range index {
		s := &skill{Entry: entry, read: func() ([]byte, error) { return nil, errors.New("only its description is known") }}
		l.skills, l.byName[entry.Name] = append(l.skills, s), s
	}
	return l
}

// Index lists the skills in the order in which they were found.
func (l *Library) Index() []Entry {
	entries := make([]Entry, len(l.skills))
	for i, s := range l.skills {
		entries[i] = s.Entry
	}
	return entries
}

// Prompt is the part of the system prompt that tells the model of the skills: a
// line of introduction and "- name: description" for each. It is "" when there
// are none.
func (l *Library) Prompt() string {
	if len(l.skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Skills: instructions for certain work. When a task fits one, load it with the skill tool first.\n")
	for _, s := range l.skills {
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, s.Description)
	}
	return b.String()
}

// Dirs lists the folders of the skills on the disk, resolved, which hold the
// files that their texts speak of. A host lets tools read there.
func (l *Library) Dirs() []string {
	var dirs []string
	for _, s := range l.skills {
		if s.dir != "" {
			dirs = append(dirs, filepath.Dir(s.real))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Load returns a skill's text in its frame, with a line that names its folder
// (R84). It is read once; later loads return the same whatever has become of
// the file. The error of an unknown name lists the names.
func (l *Library) Load(name string) (string, error) {
	s := l.byName[strings.TrimSpace(name)]
	if s == nil {
		return "", l.unknown(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.content != "" {
		return s.content, nil
	}
	data, err := s.read()
	if err != nil {
		return "", fmt.Errorf("skill %s cannot be loaded: %s: %w", s.Name, kinds.Line(s.origin, 500), err)
	}
	s.content = s.frame(data)
	return s.content, nil
}

func (l *Library) unknown(name string) error {
	if len(l.skills) == 0 {
		return errors.New("no skills were found; they are looked for in the folders .agents/skills and .claude/skills " +
			"of the project and of the home directory, and in the folders that the settings name")
	}
	names := make([]string, len(l.skills))
	for i, s := range l.skills {
		names[i] = s.Name
	}
	slices.Sort(names)
	return fmt.Errorf("no skill is called %q; there are: %s", kinds.Line(name, 80), strings.Join(names, ", "))
}

// frame makes what the model reads of a SKILL.md.
func (s *skill) frame(data []byte) string {
	longer := len(data) > maxBody
	_, body, _ := strictread.Split(data[:min(len(data), maxBody)]) // without front matter all of it is the body
	text := strings.Trim(readable(body), "\n")
	text = guarded(text)
	if len(text) > maxBody {
		text, longer = textcut.First(text, maxBody), true
	}
	if longer {
		text += fmt.Sprintf("\n[the rest is left out: a skill's text may have %d bytes]", maxBody)
	}
	if s.dir != "" {
		text += "\n\nThis skill's folder, which relative paths in it start from: " + guarded(kinds.Line(s.dir, 4096))
	}
	return fmt.Sprintf("<skill_content name=%q>\n%s\n</skill_content>", s.Name, text)
}

// guarded keeps a text from ending the frame that it stands in.
func guarded(text string) string {
	return closed(text, "skill_content")
}
