package capability

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
)

// The variables of R111.
const (
	VarWorkspace = "workspace" // the session's root and its additional roots
	VarAdHoc     = "ad-hoc"    // directories of files opened by hand
	VarUserData  = "user-data" // the host's data directory for this user
)

// Vars gives each variable its directories, all absolute. A variable that is absent is
// undefined, which Compile reports; one that is present without directories is empty,
// which grants nothing.
type Vars map[string][]string

// NoDirectories defines the three variables of R111 without directories, so that
// Compile reports any other: for requirements that are checked before a session is
// there to give the directories.
func NoDirectories() Vars { return Vars{VarWorkspace: nil, VarAdHoc: nil, VarUserData: nil} }

// variable is a brace group that holds one name; "{a,b}" stays a glob alternative.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9_-]*)\}`)
})

// UndefinedError names a variable that a pattern uses and no one defined (R111).
type UndefinedError struct {
	Name    string // the variable, without braces
	Pattern string // the pattern that uses it
}

// Error implements error.
func (e *UndefinedError) Error() string {
	return fmt.Sprintf("pattern %q: undefined variable {%s}", e.Pattern, e.Name)
}

// Compiled is a requirement set with its variables expanded, or the conjunction of
// several (And). The zero value grants nothing. It is immutable and safe for
// concurrent use.
type Compiled struct {
	layers []layer
}

type layer struct {
	read, write, hosts, names []string
	shell                     []ShellRun
	windows                   bool
}

// Compile expands the variables of the set. An undefined variable, a malformed glob or
// a directory that is not absolute is an error; a variable without directories drops
// the patterns that use it (R111).
func Compile(s RequirementSet, vars Vars) (Compiled, error) {
	l := layer{
		names: slices.Clone(s.Capabilities),
		shell: slices.Clone(s.Shell),
	}
	for _, dirs := range vars {
		l.windows = l.windows || slices.ContainsFunc(dirs, func(d string) bool { return len(d) > 1 && d[1] == ':' })
	}
	var err error
	if l.read, err = expandPaths(s.FS.Read, vars); err != nil {
		return Compiled{}, fmt.Errorf("fs.read: %w", err)
	}
	if l.write, err = expandPaths(s.FS.Write, vars); err != nil {
		return Compiled{}, fmt.Errorf("fs.write: %w", err)
	}
	if l.hosts, err = expandHosts(s.Net.Hosts, vars); err != nil {
		return Compiled{}, fmt.Errorf("net.hosts: %w", err)
	}
	return Compiled{layers: []layer{l}}, nil
}

// And returns the exact intersection: what c and every one of the others grant (R112).
func (c Compiled) And(others ...Compiled) Compiled {
	all := slices.Clone(c.layers)
	for _, o := range others {
		if len(o.layers) == 0 {
			return Compiled{}
		}
		all = append(all, o.layers...)
	}
	if len(c.layers) == 0 {
		return Compiled{}
	}
	return Compiled{layers: all}
}

// Read reports whether the absolute, already resolved path may be read.
func (c Compiled) Read(name string) bool {
	return c.every(func(l layer) bool { return l.path(l.read, name) })
}

// Write reports whether the absolute, already resolved path may be written.
func (c Compiled) Write(name string) bool {
	return c.every(func(l layer) bool { return l.path(l.write, name) })
}

// Host reports whether the host may be reached.
func (c Compiled) Host(host string) bool {
	return c.every(func(l layer) bool {
		return slices.ContainsFunc(l.hosts, func(p string) bool { return MatchHost(p, host) })
	})
}

// Run reports whether the command line may be started.
func (c Compiled) Run(argv []string) bool {
	return c.every(func(l layer) bool {
		return slices.ContainsFunc(l.shell, func(r ShellRun) bool { return r.Match(argv) })
	})
}

// Has reports whether the named capability is granted.
func (c Compiled) Has(name string) bool {
	return c.every(func(l layer) bool { return slices.Contains(l.names, name) })
}

func (c Compiled) every(ok func(layer) bool) bool {
	if len(c.layers) == 0 {
		return false
	}
	for _, l := range c.layers {
		if !ok(l) {
			return false
		}
	}
	return true
}

func (l layer) path(patterns []string, name string) bool {
	clean, ok := cleanName(name, l.windows)
	if !ok {
		return false
	}
	return slices.ContainsFunc(patterns, func(p string) bool { return MatchPath(p, clean) })
}

func expandPaths(patterns []string, vars Vars) ([]string, error) {
	var out []string
	for _, p := range patterns {
		if strings.TrimSpace(p) == "" {
			continue
		}
		forms, err := ExpandPath(p, vars)
		if err != nil {
			return nil, err
		}
		out = append(out, forms...)
	}
	return out, nil
}

// ExpandPath returns the absolute globs that one path pattern stands for: one for each
// combination of the values of its variables, none when one of them is empty. A
// relative pattern is taken from each directory of the workspace. The errors are those
// of Compile.
func ExpandPath(pattern string, vars Vars) ([]string, error) {
	if err := simpleEnough(pattern); err != nil {
		return nil, err
	}
	full := pattern
	if !strings.HasPrefix(full, "{") && !absolute(full) {
		full = "{" + VarWorkspace + "}/" + full
	}
	forms, err := expand(full, vars, true)
	if err != nil {
		return nil, err
	}
	for i, form := range forms {
		if slices.Contains(strings.Split(form, "/"), "..") {
			return nil, fmt.Errorf("pattern %q: must not climb with \"..\"", pattern)
		}
		if form == "" {
			form = "/" // a workspace that is the root directory
		}
		if !absolute(form) {
			return nil, fmt.Errorf("pattern %q: %q is not an absolute path", pattern, form)
		}
		if forms[i] = path.Clean(form); !doublestar.ValidatePattern(forms[i]) {
			return nil, fmt.Errorf("pattern %q: malformed glob", pattern)
		}
	}
	return forms, nil
}

func expandHosts(patterns []string, vars Vars) ([]string, error) {
	var out []string
	for _, p := range patterns {
		forms, err := ExpandHost(p, vars)
		if err != nil {
			return nil, err
		}
		out = append(out, forms...)
	}
	return out, nil
}

// simpleEnough refuses patterns whose matching could take very long: each group of
// alternatives multiplies the work, and a project may have written the pattern.
func simpleEnough(pattern string) error {
	const longest, groups, alternatives = 4096, 4, 64
	plain := variable().ReplaceAllString(pattern, "")
	if len(pattern) > longest || strings.Count(plain, "{") > groups || strings.Count(plain, ",") > alternatives {
		return fmt.Errorf("pattern %.80q: too many alternatives to match in good time", pattern)
	}
	return nil
}

// ExpandHost returns the host patterns that one pattern with variables stands for. An
// undefined variable is an error.
func ExpandHost(pattern string, vars Vars) ([]string, error) {
	return expand(pattern, vars, false)
}

// expand replaces the variables of a pattern, giving one result for each combination
// of their values. Empty values are dropped: "" in front of "/**" would be everything.
func expand(pattern string, vars Vars, paths bool) ([]string, error) {
	at := variable().FindStringSubmatchIndex(pattern)
	if at == nil {
		return []string{pattern}, nil
	}
	name := pattern[at[2]:at[3]]
	values, ok := vars[name]
	if !ok {
		return nil, &UndefinedError{Name: name, Pattern: pattern}
	}
	rests, err := expand(pattern[at[1]:], vars, paths)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, v := range values {
		if strings.TrimSpace(v) == "" {
			continue
		}
		if paths {
			if len(v) > 1 && v[1] == ':' {
				v = slashes(v)
			}
			v = EscapeGlob(strings.TrimSuffix(v, "/"))
		}
		for _, rest := range rests {
			out = append(out, pattern[:at[0]]+v+rest)
		}
	}
	return out, nil
}
