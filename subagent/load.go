package subagent

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/skills"
)

const (
	// MaxManifest bounds a manifest, in bytes.
	MaxManifest = 64 << 10
	// maxAgents bounds how many manifests of people are looked at.
	maxAgents = 200
)

// Slot is what the person's settings say of an agent (R99). Zero fields leave what its
// manifest says.
type Slot struct {
	Model       string
	Temperature *float64
	// MaxTokens is the most tokens of one answer, Cycles the most model calls of one run.
	MaxTokens, Cycles int
}

// LoadOptions say where [Load] looks. Zero fields leave a place out.
type LoadOptions struct {
	// Home is the person's home directory, ConfigHome their directory of settings
	// ($XDG_CONFIG_HOME), in which the agent has a folder. Absolute.
	Home, ConfigHome string
	// Secret reports whether a path names a secret; nil means that none does.
	Secret func(path string) bool
	// Dir is the directory of the project, canonical; Project is what it holds, as trust
	// is bound to it, so that what is used is what was trusted. Only in a Trusted one
	// are its agents used.
	Dir     string
	Project projects.Snapshot
	Trusted bool
	// Unbound is why the project cannot be bound, and so not be trusted; nil means that
	// it can.
	Unbound error
	// Known reports the ids of tools; nil means those of this program.
	Known func(tool string) bool
	// Slots are settings by the names of agents.
	Slots map[string]Slot
}

// UserDirs are the directories of a person's own agents. No tool may write there: what
// they hold is the person's word.
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

// Load finds the agents: the person's, the shipped ones and those of the project. Of two
// with one name the person's comes first, then the shipped one; a project's agent never
// takes the place of another, for that would change what the person delegates to. What
// cannot be used is a problem of the catalog, and the others are there.
func Load(o LoadOptions) *Catalog {
	if o.Known == nil {
		o.Known = func(tool string) bool { return slices.Contains(kinds.Known(), tool) || kinds.Foreign(tool) }
	}
	c := &Catalog{byName: map[string]Manifest{}}
	l := loading{LoadOptions: o, catalog: c}
	users := l.users()
	l.shipped(users)
	for _, m := range users {
		l.add(m)
	}
	l.project()
	l.settle()
	return c
}

type loading struct {
	LoadOptions
	catalog *Catalog
	read    int
}

// users are the person's agents that can be used, the first of each name.
func (l *loading) users() []Manifest {
	documents, warnings := skills.Documents(UserDirs(l.Home, l.ConfigHome), MaxManifest, l.Secret)
	for _, w := range warnings {
		l.catalog.say(problem(w.Path, 0, "%s", w.Text))
	}
	var list []Manifest
	for _, d := range documents {
		m, ok := l.parse(d.Path, d.Text, User)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(list, func(have Manifest) bool { return have.Name == m.Name }); i >= 0 {
			l.clash(m, list[i])
			continue
		}
		list = append(list, m)
	}
	return list
}

// shipped adds the shipped agents that the person has not replaced.
func (l *loading) shipped(users []Manifest) {
	list, err := builtins()
	if err != nil {
		l.catalog.say(problem("builtin", 0, "%v", err))
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
func (l *loading) project() {
	if l.Unbound != nil {
		l.catalog.say(problem(l.Dir, 0, "the project's agents are not used: %v", l.Unbound))
		return
	}
	untrusted, seen := 0, map[string]bool{}
	for _, f := range l.Project.Agents() {
		if seen[f.Hash] {
			continue // merely another way to the same agent
		}
		seen[f.Hash] = true
		path := filepath.Join(l.Dir, filepath.FromSlash(f.Name))
		if l.Home != "" && slices.Contains(UserDirs(l.Home, ""), filepath.Dir(path)) {
			continue // the person's own
		}
		if l.Secret != nil && l.Secret(path) {
			l.catalog.say(problem(path, 0, "is not used: its name is that of a secret"))
			continue
		}
		if f.Text == "" {
			l.catalog.say(problem(path, 0, "cannot be used: it is empty, no text, or the project's files are too large together"))
			continue
		}
		m, ok := l.parse(path, []byte(f.Text), Project)
		if !ok {
			continue
		}
		if have, taken := l.catalog.byName[m.Name]; taken {
			l.clash(m, have)
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
		l.catalog.say(p)
	}
}

// parse reads and checks one manifest.
func (l *loading) parse(path string, text []byte, origin Origin) (Manifest, bool) {
	if l.read++; l.read > maxAgents {
		if l.read == maxAgents+1 {
			l.catalog.say(problem(path, 0, "this and further agents are not used: %d were looked at already", maxAgents))
		}
		return Manifest{}, false
	}
	m, err := ParseManifest(path, text)
	if err != nil {
		if p, ok := errors.AsType[*Problem](err); ok {
			l.catalog.say(*p)
		}
		return m, false
	}
	m.Origin = origin
	problems := slices.Concat(m.Problems, Check(m, l.Known, capability.NoDirectories()), m.powerless())
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	l.catalog.say(problems...)
	if i := slices.IndexFunc(problems, func(p Problem) bool { return !p.Warning }); i >= 0 {
		l.catalog.entries = append(l.catalog.entries, Entry{m, fmt.Sprintf("line %d: %s", problems[i].Line, problems[i].Text)})
		return m, false
	}
	return m, true
}

// powerless are the allows of a project's agent, which lift none of the person's
// questions. One beside an ask of its own may be the exception to that.
func (m Manifest) powerless() []Problem {
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

// clash reports an agent whose name is taken.
func (l *loading) clash(m, have Manifest) {
	by := have.File
	if have.Origin == Builtin {
		by = "a shipped agent"
	}
	l.catalog.entries = append(l.catalog.entries, Entry{m, "its name is that of " + by})
	l.catalog.say(problem(m.File, m.at("name"), "is not used: the name %s is that of %s", m.Name, by))
}

func (l *loading) add(m Manifest) {
	l.catalog.entries = append(l.catalog.entries, Entry{Manifest: m})
	l.catalog.byName[m.Name] = m
}

// settle applies the settings to the agents.
func (l *loading) settle() {
	names := map[string]bool{}
	for i := range l.catalog.entries {
		e := &l.catalog.entries[i]
		names[e.Name] = true
		l.Slots[e.Name].apply(&e.Manifest)
		if e.Off == "" {
			l.catalog.byName[e.Name] = e.Manifest
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Slots)) {
		if !names[name] {
			p := problem("settings", 0, "agents.%s: there is no agent of this name here", name)
			p.Warning = true
			l.catalog.say(p)
		}
	}
}

// apply gives an agent what the settings say of it.
func (s Slot) apply(m *Manifest) {
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
