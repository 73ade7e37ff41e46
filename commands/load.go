package commands

import (
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/permissions/projects"
	"acp-agent/skills"
)

const (
	// maxCommands bounds the number of commands, and maxProblems the number of problems that are
	// listed.
	maxCommands, maxProblems = 500, 20
	maxProblem               = 300 // characters
)

// Options say where Load finds files. Zero fields leave a source out.
type Options struct {
	// Home is the user's home directory, ConfigHome that of the settings of programs
	// ($XDG_CONFIG_HOME). Both are absolute.
	Home, ConfigHome string
	// Secret reports whether a path names a secret; nil means that no path does.
	Secret func(path string) bool
	// Dir is the canonical directory of the project, and Project the snapshot of its files that
	// trust is bound to. Its commands are used only if Trusted is set.
	Dir     string
	Project projects.Snapshot
	Trusted bool
	// Taken reports whether the agent itself has a command of this name; nil means none.
	Taken func(name string) bool
	// Tape records the files of the user's directories, or has them from a recording; nil does
	// neither.
	Tape *record.Tape
}

// Set is the commands of a user and a project. It does not change.
type Set struct {
	list      []Command
	byName    map[string]Command
	problems  []string
	untrusted []string
}

// All lists the commands, the user's own first.
func (s *Set) All() []Command { return slices.Clone(s.list) }

// Get returns a command by its name.
func (s *Set) Get(name string) (c Command, ok bool) {
	c, ok = s.byName[name]
	return c, ok
}

// Problems say which files are not used, and why, one line each.
func (s *Set) Problems() []string { return slices.Clone(s.problems) }

// Untrusted are the names of the project's commands if it is not trusted.
func (s *Set) Untrusted() []string { return slices.Clone(s.untrusted) }

// Load finds the commands of the user and of the project. If two have the same name, the first wins: the
// agent's own commands, then the user's, then the project's from the nearest directory upward. Within a
// directory the order is that of the layouts, then of the paths.
func Load(o Options) *Set {
	l := loader{Options: o, set: &Set{byName: map[string]Command{}}}
	l.user()
	l.project()
	return l.set
}

// ProjectNames are the names of the commands in the files of a project.
func ProjectNames(snapshot projects.Snapshot) []string {
	var names []string
	for _, f := range snapshot.Commands() {
		if _, name, ok := inPlace(f.Name); ok && typeable(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

type loader struct {
	Options
	set    *Set
	missed bool // a problem was not listed
}

// userFiles is how a recording keeps the files of a directory of the user's.
type userFiles struct {
	Files    []userFile
	Warnings []skills.Warning
}

type userFile struct{ Path, Text string }

func (l *loader) read(dir string) userFiles {
	return record.Value(l.Tape, "commands", dir, func() (f userFiles) {
		documents, warnings := skills.DocumentsBelow(dir, maxFile, l.Secret)
		for _, d := range documents {
			f.Files = append(f.Files, userFile{d.Path, string(d.Text)})
		}
		f.Warnings = warnings
		return f
	})
}

func (l *loader) user() {
	for _, p := range userPlaces(l.Home, l.ConfigHome) {
		found := l.read(p.dir)
		for _, w := range found.Warnings {
			l.problem(w.Path, w.Text)
		}
		for _, d := range found.Files {
			rel, err := filepath.Rel(p.dir, d.Path)
			if err != nil {
				continue
			}
			l.add(d.Path, p.layout.name(filepath.ToSlash(rel)), p.layout, []byte(d.Text), false)
		}
	}
}

func (l *loader) project() {
	for _, f := range l.Project.Commands() {
		layout, name, ok := inPlace(f.Name)
		file := filepath.Join(l.Dir, filepath.FromSlash(f.Name))
		own := func(dir string) bool { return pathname.Contains(dir, file) }
		if !ok || slices.ContainsFunc(UserDirs(l.Home, l.ConfigHome), own) {
			continue // already loaded as the user's own
		}
		if !l.Trusted {
			if !slices.Contains(l.set.untrusted, name) && typeable(name) && l.set.byName[name].Name == "" && !l.taken(name) {
				l.set.untrusted = append(l.set.untrusted, name)
			}
			continue
		}
		switch {
		case l.Secret != nil && l.Secret(file):
			l.problem(file, "is not used: its name is that of a secret")
		case f.Text == "":
			l.problem(file, "cannot be used: it is empty, it is not text, or the project's files are too large together")
		default:
			l.add(file, name, layout, []byte(f.Text), true)
		}
	}
}

// inPlace finds the layout of a file of a project, and the name of its command.
func inPlace(file string) (l layout, name string, ok bool) {
	for strings.HasPrefix(file, "../") {
		file = strings.TrimPrefix(file, "../")
	}
	for _, p := range projectPlaces {
		if rest, ok := strings.CutPrefix(file, p.dir+"/"); ok {
			return p.layout, p.layout.name(rest), true
		}
	}
	return 0, "", false
}

func (l *loader) taken(name string) bool { return l.Taken != nil && l.Taken(name) }

// add adds the command of a file.
func (l *loader) add(file, name string, layout layout, data []byte, project bool) {
	c, err := parse(name, layout, data)
	if err != nil {
		l.problem(file, err.Error())
		return
	}
	c.File, c.Project = file, project
	have, taken := l.set.byName[name]
	switch {
	case c.hidden:
	case l.taken(name):
		l.problem(file, "is not used: /"+name+" is a command of the agent itself")
	case taken && have.text == c.text: // the same command, for another program
	case taken:
		l.problem(file, "is not used: /"+name+" is the command of "+have.File)
	case len(l.set.list) == maxCommands:
		l.problem(file, "is not used: there are too many commands already")
	default:
		l.set.list = append(l.set.list, c)
		l.set.byName[name] = c
	}
}

func (l *loader) problem(file, text string) {
	switch {
	case len(l.set.problems) < maxProblems:
		l.set.problems = append(l.set.problems, kinds.Line(file, maxProblem)+": "+kinds.Line(text, maxProblem))
	case !l.missed:
		l.missed = true
		l.set.problems = append(l.set.problems, "Further files of commands cannot be used; they are not listed.")
	}
}
