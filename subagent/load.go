package subagent

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"acp-agent/capability"
	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/skills"
	"acp-agent/tools/builtin"
)

const (
	// MaxManifest bounds the size of a manifest, in bytes.
	MaxManifest = 64 << 10
	// maxAgents bounds how many manifests of the user and the project are read.
	maxAgents = 200
)

// Settings are what the user's settings say about one agent (R99). They override the manifest;
// zero fields change nothing.
type Settings struct {
	Model       string
	Temperature *float64
	// MaxTokens limits one answer, Cycles the model calls of one run.
	MaxTokens, Cycles int
}

// LoadOptions configure [Load]. Zero fields leave a source out.
type LoadOptions struct {
	// Home is the user's home directory. ConfigHome is the user's configuration directory
	// ($XDG_CONFIG_HOME), in which acp-agent has a folder. Both are absolute.
	Home, ConfigHome string
	// Secret reports whether a path names a secret; nil means that no path does.
	Secret func(path string) bool
	// Dir is the canonical directory of the project. Project is the snapshot of its files that
	// trust is bound to, so that exactly the trusted content is used. The project's agents are
	// used only if Trusted is set.
	Dir     string
	Project projects.Snapshot
	Trusted bool
	// Unbound is the reason why trust cannot be bound to the project's files; nil means that it
	// can.
	Unbound error
	// Known reports whether a tool id exists; nil means the ids of this program.
	Known func(tool string) bool
	// Tape records the files of the user's directories, or has them from a recording; nil does
	// neither.
	Tape *record.Tape
	// Settings are the settings by agent name.
	Settings map[string]Settings
}

// UserDirs lists the directories of the user's own agents. No tool may write there, because the
// manifests in them count as the user's word.
func UserDirs(home, configHome string) []string {
	var dirs []string
	if configHome != "" {
		dirs = append(dirs, filepath.Join(configHome, "acp-agent", "agents"))
	}
	if home != "" {
		dirs = append(dirs, filepath.Join(home, ".agents", "agents"), filepath.Join(home, ".claude", "agents"))
	}
	return dirs
}

// Load finds the user's agents, the shipped ones and those of the project. If two have the same
// name, the user's agent wins over the shipped one. An agent of the project never replaces
// another, because that would change what the user delegates to. A manifest that cannot be used
// becomes a problem of the catalog.
func Load(o LoadOptions) *Catalog {
	if o.Known == nil {
		o.Known = func(tool string) bool { return builtin.Known(tool) || kinds.Foreign(tool) }
	}
	c := &Catalog{byName: map[string]Manifest{}}
	l := loader{LoadOptions: o, catalog: c}
	users := l.users()
	l.shipped(users)
	for _, m := range users {
		l.add(m)
	}
	l.project()
	l.applySettings()
	return c
}

type loader struct {
	LoadOptions
	catalog *Catalog
	read    int // manifests of the user and the project so far
}

// userFiles is how a recording keeps the user's manifests.
type userFiles struct {
	Files    []userFile
	Warnings []skills.Warning
}

type userFile struct{ Path, Text string }

func (l *loader) readUsers() (f userFiles) {
	documents, warnings := skills.Documents(UserDirs(l.Home, l.ConfigHome), MaxManifest, l.Secret)
	for _, d := range documents {
		f.Files = append(f.Files, userFile{d.Path, string(d.Text)})
	}
	f.Warnings = warnings
	return f
}

// users returns the user's valid agents, the first of each name.
func (l *loader) users() []Manifest {
	found := record.Value(l.Tape, "agents", "", l.readUsers)
	for _, w := range found.Warnings {
		l.catalog.addProblems(problem(w.Path, 0, "%s", w.Text))
	}
	var list []Manifest
	for _, d := range found.Files {
		m, ok := l.parse(d.Path, []byte(d.Text), User)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(list, func(have Manifest) bool { return have.Name == m.Name }); i >= 0 {
			l.reportNameClash(m, list[i])
			continue
		}
		list = append(list, m)
	}
	return list
}

// shipped adds the shipped agents that the user has not replaced.
func (l *loader) shipped(users []Manifest) {
	list, err := builtins()
	if err != nil {
		l.catalog.addProblems(problem("builtin", 0, "%v", err))
	}
	for _, m := range list {
		i := slices.IndexFunc(users, func(u Manifest) bool { return u.Name == m.Name })
		if i >= 0 {
			l.catalog.entries = append(l.catalog.entries, Entry{m, "replaced by " + users[i].File})
			continue
		}
		l.add(m)
	}
}

// project adds the agents of the project.
func (l *loader) project() {
	if l.Unbound != nil {
		l.catalog.addProblems(problem(l.Dir, 0, "the project's agents are not used: %v", l.Unbound))
		return
	}
	untrusted, seen := 0, map[string]bool{}
	for _, f := range l.Project.Agents() {
		if seen[f.Hash] {
			continue // another path to the same file
		}
		seen[f.Hash] = true
		path := filepath.Join(l.Dir, filepath.FromSlash(f.Name))
		if l.Home != "" && slices.Contains(UserDirs(l.Home, ""), filepath.Dir(path)) {
			continue // already loaded as the user's own
		}
		if l.Secret != nil && l.Secret(path) {
			l.catalog.addProblems(problem(path, 0, "is not used: its name is that of a secret"))
			continue
		}
		if f.Text == "" {
			l.catalog.addProblems(problem(path, 0, "cannot be used: it is empty, it is not text, or the project's files are too large together"))
			continue
		}
		m, ok := l.parse(path, []byte(f.Text), Project)
		if !ok {
			continue
		}
		if have, taken := l.catalog.byName[m.Name]; taken {
			l.reportNameClash(m, have)
			continue
		}
		if !l.Trusted {
			untrusted++
			l.catalog.entries = append(l.catalog.entries, Entry{m, "the project is not trusted"})
			continue
		}
		l.add(m)
	}
	if untrusted > 0 {
		p := problem(l.Dir, 0, "%d of the project's agents are not used until you trust the project: /trust shows what that allows, and asks", untrusted)
		p.Warning = true
		l.catalog.addProblems(p)
	}
}

// parse parses and checks one manifest.
func (l *loader) parse(path string, text []byte, origin Origin) (Manifest, bool) {
	if l.read++; l.read > maxAgents {
		if l.read == maxAgents+1 {
			l.catalog.addProblems(problem(path, 0, "this and further agents are not used: %d were looked at already", maxAgents))
		}
		return Manifest{}, false
	}
	m, err := ParseManifest(path, text)
	if err != nil {
		if p, ok := errors.AsType[*Problem](err); ok {
			l.catalog.addProblems(*p)
		}
		return m, false
	}
	m.Origin = origin
	problems := slices.Concat(m.Problems, Check(m, l.Known, capability.NoDirectories()), m.ineffectiveAllows())
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	l.catalog.addProblems(problems...)
	if i := slices.IndexFunc(problems, func(p Problem) bool { return !p.Warning }); i >= 0 {
		l.catalog.entries = append(l.catalog.entries, Entry{m, fmt.Sprintf("line %d: %s", problems[i].Line, problems[i].Text)})
		return m, false
	}
	return m, true
}

// ineffectiveAllows reports the allow rules of a project's agent, which cannot answer a
// question for the user. A manifest with an ask rule is left out: its allow may be the
// exception to that ask.
func (m Manifest) ineffectiveAllows() []Problem {
	asks := slices.ContainsFunc(m.Rules, func(r permissions.Rule) bool { return r.Action == capability.Ask })
	if m.Origin != Project || asks {
		return nil
	}
	var list []Problem
	for i, r := range m.Rules {
		if r.Action != capability.Allow {
			continue
		}
		p := problem(m.File, m.at(ruleField(i)), "%s: has no effect: an agent of a project lifts no question", ruleText(r))
		p.Warning = true
		list = append(list, p)
	}
	return list
}

// reportNameClash reports an agent whose name is already taken.
func (l *loader) reportNameClash(m, have Manifest) {
	by := have.File
	if have.Origin == Builtin {
		by = "a shipped agent"
	}
	l.catalog.entries = append(l.catalog.entries, Entry{m, "its name is that of " + by})
	l.catalog.addProblems(problem(m.File, m.at("name"), "is not used: the name %s is that of %s", m.Name, by))
}

func (l *loader) add(m Manifest) {
	l.catalog.entries = append(l.catalog.entries, Entry{Manifest: m})
	l.catalog.byName[m.Name] = m
}

// applySettings applies the user's settings to the agents.
func (l *loader) applySettings() {
	names := map[string]bool{}
	for i := range l.catalog.entries {
		e := &l.catalog.entries[i]
		names[e.Name] = true
		l.Settings[e.Name].apply(&e.Manifest)
		if e.Unused == "" {
			l.catalog.byName[e.Name] = e.Manifest
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Settings)) {
		if !names[name] {
			p := problem("settings", 0, "agents.%s: there is no agent of this name here", name)
			p.Warning = true
			l.catalog.addProblems(p)
		}
	}
}

// apply overrides fields of a manifest.
func (s Settings) apply(m *Manifest) {
	if s.Model != "" {
		m.Model = s.Model
	}
	if s.Temperature != nil {
		m.Limits.Temperature = s.Temperature
	}
	if s.MaxTokens > 0 {
		m.Limits.MaxTokens = s.MaxTokens
	}
	if s.Cycles > 0 {
		m.Limits.Cycles = s.Cycles
	}
}
