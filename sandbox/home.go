package sandbox

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/pathname"
)

// homeView is what a command sees of the home directory.
type homeView struct {
	// concealed is the home, resolved, of which the command sees what else the policy
	// names; empty where the home cannot be hidden.
	concealed string
	// shown are the paths of the allow-list that exist; none where it is not hidden.
	shown []string
	// programs are the program that is started, what its arguments name, and what is seen of
	// repositories.
	programs []string
	// masked are the places of secrets.
	masked []string
	// unreadable are settings that are there and hidden, as entries of settingVariables.
	unreadable []settingVariable
	// unclean are settings that would be shown if they held no credential.
	unclean []string
	// gitConfig are git's settings of the user that hold a credential.
	gitConfig []string
	// repositories are those of the roots that lie outside of them.
	repositories []gitdir.Repository
}

// systemDirs hold the system's programs and settings. A home that is one of them, or
// lies in one of the first group, cannot be hidden: services have such homes.
var systemDirs = struct{ within, alone []string }{
	within: []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/sys", "/dev", "/nix", "/gnu", "/System", "/Library", "/Applications"},
	alone:  []string{"/", "/var", "/opt", "/run", "/tmp", "/srv", "/mnt", "/media", "/home", "/Users", "/boot"},
}

// home decides what a command sees of the home directory. The home stays as it is, but
// for the places of secrets, where the session works in it, where the user's
// configuration opens all of it, and where it is a directory of the system.
func (b *Box) home(r Request) homeView {
	g := b.gate()
	v := homeView{repositories: b.outerRepositories(g, r)}
	look := g.lookUp(&b.looks)
	for _, name := range secretPlaces {
		v.masked = append(v.masked, look.existing(name)...)
	}
	for _, name := range shownSettings {
		for _, path := range look.existing(name) {
			switch {
			case b.looks.clean.of(path, clean):
				v.shown = append(v.shown, path)
			case isGitConfig(name):
				v.gitConfig = append(v.gitConfig, path)
				fallthrough
			default:
				v.masked, v.unclean = append(v.masked, path), append(v.unclean, path)
			}
		}
	}
	// What lies in a root is seen anyway, and to show it once more would take its writing.
	in := func(path string, dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return ContainsReal(dir, path) })
	}
	for _, path := range r.Programs {
		if !in(path, r.Roots) && !in(path, r.Writable) {
			v.programs = append(v.programs, g.programFiles(path)...)
		}
	}
	for _, path := range r.Arguments {
		if !in(path, r.Roots) && !in(path, r.Writable) && !in(path, b.Own) {
			v.programs = append(v.programs, g.programFiles(path)...)
		}
	}
	v.programs = append(v.programs, b.namedFiles(g, r)...)
	for _, repo := range v.repositories {
		v.programs = append(v.programs, repo.Common)
		if r.Around { // git compares all of the working tree, and builds find their modules there
			v.programs = append(v.programs, g.shown(repo.Top)...)
		}
	}
	if !g.canBeHidden() || slices.ContainsFunc(slices.Concat(r.Roots, r.Writable, r.Readable), g.holdsHome) {
		v.shown = nil
		return v
	}
	v.concealed = g.real
	for _, setting := range settingVariables {
		if paths := look.existing(setting.name); len(paths) > 0 && !slices.Contains(v.shown, paths[0]) {
			v.unreadable = append(v.unreadable, setting)
		}
	}
	// Settings that are secret in a home that is seen are shown if they were found clean.
	v.masked = slices.DeleteFunc(v.masked, func(path string) bool { return slices.Contains(v.shown, path) })
	v.shown = append(v.shown, g.gitFiles(v.shown, &b.looks)...)
	for _, group := range shownHome {
		for _, name := range group.names {
			v.shown = append(v.shown, look.existing(name)...)
		}
	}
	for _, name := range inShown {
		v.masked = append(v.masked, look.matching(name)...)
	}
	v.shown = slices.Concat(v.shown, b.variableDirs(g), b.programDirs(g))
	for _, root := range r.Roots {
		v.shown = append(v.shown, g.gitDataOf(root)...)
	}
	return v
}

// homeGate judges which paths of a home may be shown.
type homeGate struct {
	dir, real string            // the home as it is named, and without links
	moved     map[string]string // base directories that variables put elsewhere
	broad     []string
	secrets   pathname.Dirs // the secret places, by their usual and by their moved paths
}

func (b *Box) gate() homeGate {
	g := homeGate{dir: b.Home, real: resolved(b.Home), moved: b.movedBases()}
	var secrets []string
	tops := nonEmpty(g.dir)
	if g.real != "" && g.real != filepath.Clean(g.dir) {
		tops = append(tops, g.real)
	}
	for _, top := range tops {
		secrets = append(secrets, under(top, secretPlaces[:])...)
		g.broad = append(g.broad, under(top, broad[:])...)
	}
	for usual, dir := range g.moved {
		if slices.Contains(broad[:], usual) {
			g.broad = append(g.broad, dir)
		}
	}
	if len(g.moved) > 0 {
		for _, name := range secretPlaces {
			secrets = append(secrets, nonEmpty(elsewhere(g.moved, name))...)
		}
	}
	g.secrets = pathname.NewDirs(secrets)
	return g
}

func (g homeGate) canBeHidden() bool {
	return g.real != "" && !slices.Contains(systemDirs.alone, g.real) &&
		!slices.ContainsFunc(systemDirs.within, func(dir string) bool { return pathname.Contains(dir, g.real) })
}

// holdsHome reports whether the home lies in a directory; one that is not there holds
// nothing.
func (g homeGate) holdsHome(dir string) bool {
	real := resolved(dir)
	return real != "" && pathname.Contains(real, g.real)
}

// opens reports whether a path may be shown because something other than the
// configuration names it, such as a variable. The home as a whole, what holds the
// directories of many programs, and places of secrets are not.
func (g homeGate) opens(path string) bool {
	real := resolved(path)
	if real == "" {
		return false
	}
	for _, at := range []string{filepath.Clean(path), real} {
		if pathname.Contains(at, filepath.Clean(g.dir)) || pathname.Contains(at, g.real) || slices.Contains(g.broad, at) || g.secrets.Contain(at) {
			return false
		}
	}
	return true
}

// shown is the first of the paths that may be shown.
func (g homeGate) shown(paths ...string) []string {
	if i := slices.IndexFunc(paths, g.opens); i >= 0 {
		return paths[i : i+1]
	}
	return nil
}

// homeLook looks for names beneath the home. The directories that most names lie in are
// listed once, so that what is not there costs no look of its own.
type homeLook struct {
	dir    string
	moved  map[string]string
	listed map[string]map[string]bool // by directory, "." for the home itself
}

// baseDirs are the variables that move a leading directory of names out of its usual
// path.
var baseDirs = [...]struct{ variable, usual string }{
	{"XDG_CONFIG_HOME", ".config"}, {"XDG_DATA_HOME", ".local/share"}, {"XDG_STATE_HOME", ".local/state"}, {"XDG_CACHE_HOME", ".cache"},
}

func (g homeGate) lookUp(memory *homeMemory) homeLook {
	look := homeLook{dir: g.dir, moved: g.moved, listed: map[string]map[string]bool{".": memory.listed.of(g.dir, entries)}}
	for _, name := range []string{".config", ".cache", ".local", ".local/share"} {
		if look.listed["."][strings.SplitN(name, "/", 2)[0]] {
			look.listed[name] = memory.listed.of(filepath.Join(g.dir, filepath.FromSlash(name)), entries)
		}
	}
	return look
}

// entries are the names in a directory; what cannot be read has none.
func entries(path string) map[string]bool {
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could be read of it counts
	found := make(map[string]bool, len(names))
	for _, name := range names {
		found[name] = true
	}
	return found
}

// absent reports whether a name is certainly not in the home.
func (l homeLook) absent(name string) bool {
	dir, rest := ".", name
	for {
		first, more, deeper := strings.Cut(rest, "/")
		listed, known := l.listed[dir]
		switch {
		case !known:
			return false
		case !listed[first]:
			return true
		case !deeper:
			return false
		}
		dir, rest = path.Join(dir, first), more
	}
}

// movedBases are the base directories that variables put elsewhere.
func (b *Box) movedBases() map[string]string {
	moved := map[string]string{}
	for _, base := range baseDirs {
		if dir := b.variable(base.variable); filepath.IsAbs(dir) && filepath.Clean(dir) != filepath.Join(b.Home, filepath.FromSlash(base.usual)) {
			moved[base.usual] = filepath.Clean(dir)
		}
	}
	return moved
}

// elsewhere is where a name lies when a variable moves its base directory; empty where
// none does.
func elsewhere(moved map[string]string, name string) string {
	for usual, dir := range moved {
		if rest, ok := strings.CutPrefix(name, usual+"/"); ok {
			return filepath.Join(dir, filepath.FromSlash(rest))
		}
	}
	return ""
}

// existing are the paths of a name that are there.
func (l homeLook) existing(name string) []string {
	var paths []string
	if !l.absent(name) {
		paths = append(paths, filepath.Join(l.dir, filepath.FromSlash(name)))
	}
	if there := elsewhere(l.moved, name); there != "" {
		paths = append(paths, there)
	}
	return slices.DeleteFunc(paths, missing)
}

// matching are the paths that a pattern fits.
func (l homeLook) matching(pattern string) []string {
	var paths []string
	if first, _, _ := strings.Cut(pattern, "*"); !l.absent(path.Dir(first + "x")) {
		paths, _ = filepath.Glob(filepath.Join(l.dir, filepath.FromSlash(pattern)))
	}
	if there := elsewhere(l.moved, pattern); there != "" {
		more, _ := filepath.Glob(there)
		paths = append(paths, more...)
	}
	return paths
}

// variableDirs are the directories in the home that the variables of toolchains name.
func (b *Box) variableDirs(g homeGate) []string {
	var dirs []string
	for _, entry := range b.Environ {
		name, value, _ := strings.Cut(entry, "=")
		i := slices.IndexFunc(toolVariables[:], func(v toolVariable) bool { return v.name == name })
		if i < 0 {
			continue
		}
		parts := toolVariables[i].parts
		for _, dir := range filepath.SplitList(value) {
			if !g.opens(dir) {
				continue
			}
			if parts == nil {
				dirs = append(dirs, dir)
			}
			dirs = append(dirs, under(dir, parts)...)
		}
	}
	return slices.DeleteFunc(dirs, missing)
}

// besideBin are the directories that a program in a bin directory finds its own files in.
var besideBin = [...]string{"lib", "lib64", "libexec", "share", "include"}

// programDirs are the directories of the PATH that may be shown, with what belongs to
// the programs in them.
func (b *Box) programDirs(g homeGate) []string {
	var dirs []string
	for _, dir := range b.programs() {
		dir = filepath.Clean(dir)
		if g.real != "" && !pathname.Contains(g.real, dir) && !pathname.Contains(filepath.Clean(g.dir), dir) {
			if !pathname.Contains(dir, g.real) && !g.holdsHome(dir) {
				dirs = append(dirs, dir)
			}
			continue
		}
		if !g.opens(dir) {
			continue
		}
		dirs = append(dirs, dir)
		if parent := filepath.Dir(dir); filepath.Base(dir) == "bin" && g.opens(parent) && resolved(parent) == parent {
			dirs = append(dirs, under(parent, besideBin[:])...)
		}
	}
	return slices.DeleteFunc(dirs, missing)
}

// resolved is a path without links; empty where it is not known or not there.
func resolved(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// readable are the places of a policy that the view grants.
func (v homeView) readable(b *Box) []string {
	if v.concealed != "" {
		return slices.Concat(v.shown, v.programs)
	}
	return slices.Concat(nonEmpty(b.Home), b.programs(), v.programs)
}

// env are the variables without which programs fail on settings that are hidden.
func (v homeView) env(b *Box, r Request, p *Policy) []string {
	env := b.copies.gitEnv(v, r.Private, &b.looks)
	if p.Kind.HasView() {
		return env // which makes them look absent
	}
	for _, setting := range v.unreadable {
		entry := setting.entry
		if setting.inTmp {
			if r.Tmp == "" {
				continue
			}
			name, dir, _ := strings.Cut(entry, "=")
			entry = name + "=" + filepath.Join(r.Tmp, dir)
		}
		env = append(env, entry)
	}
	return env
}

// HomeReport says what a command sees of the home directory.
type HomeReport struct {
	// Hidden says that a command sees only Shown, and the session's own directories.
	Hidden bool     `json:"hidden"`
	Shown  []string `json:"shown,omitempty"`
	// Credentials are settings of toolchains that are hidden because they hold one.
	Credentials []string `json:"credentials,omitempty"`
}

// HomeReport looks at the home as a command of such a request would see it.
func (b *Box) HomeReport(r Request) HomeReport {
	view := b.home(r)
	report := HomeReport{Hidden: view.concealed != "", Credentials: view.unclean}
	if report.Hidden {
		report.Shown = slices.Concat(view.shown, r.Roots, r.Writable, r.Readable)
		report.Shown = slices.DeleteFunc(report.Shown, func(path string) bool { return !ContainsReal(view.concealed, path) })
		slices.Sort(report.Shown)
		report.Shown = slices.Compact(report.Shown)
	}
	return report
}
