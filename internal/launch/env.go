package launch

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"acp-agent/internal/redact"
)

// EnvOptions say what [Env] must know besides the environment.
type EnvOptions struct {
	// Secrets are the configured keys, wherever they came from. A variable
	// that holds one is dropped. One shorter than eight bytes, such as the
	// dummy key of a local model server, must be the whole value.
	Secrets []string
	// Workspace are the directories whose programs must not shadow the
	// system's: PATH loses its entries inside them.
	Workspace []string
	// ProjectPrograms keeps the entries of PATH inside Workspace that hold the programs of a
	// virtual environment of Python, or of node_modules: the user trusts the project.
	ProjectPrograms bool
	// Passed are names of variables that [Env] leaves in place, because the user wants commands
	// to have them. A variable that holds a configured key, or that is not [Passable], is dropped
	// nevertheless.
	Passed []string
	// Set are NAME=value entries that are put in after the sweep, such as the
	// variables that keep git from running a repository's programs (C9).
	Set []string
}

// defaultPath stands in for a PATH of which nothing is left.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// Env returns the environment of a command: environ, which is the editor's,
// less what names or holds a secret, what makes a program load or run something
// else, and what leads to an agent or daemon outside the command's tree (X1,
// S6); plus defaults that keep programs from paging and colouring, plus Set.
// Toolchain variables survive. dropped lists the names that were taken out,
// and PATH entries as "PATH entry", sorted; it never holds a value.
func Env(environ []string, o EnvOptions) (env, dropped []string) {
	return sweepEnv(environ, o, func(string) bool { return true }, o.Passed)
}

// ProgramEnv returns the environment of a program that is not the model's own
// command, such as a formatter or a language server (X1): of what [Env] keeps
// only the short list of what such programs need to find themselves, their
// caches and their toolchains; plus the same defaults, plus Set.
func ProgramEnv(environ []string, o EnvOptions) []string {
	env, _ := sweepEnv(environ, o, allowedName, nil)
	return env
}

// sweepEnv makes an environment of the variables that are wanted and that nothing speaks against.
// The passed ones need only be wanted and without a configured key.
func sweepEnv(environ []string, o EnvOptions, wanted func(name string) bool, passed []string) (env, dropped []string) {
	roots := resolveAll(o.Workspace)
	path := ""
	for _, e := range environ {
		name, value, ok := strings.Cut(e, "=")
		switch {
		case !ok || name == "":
			// A Windows drive's directory, or noise.
		case sameName(name, "PATH"):
			var out []string
			path, out = cleanPath(value, roots, o)
			dropped = append(dropped, out...)
		case strings.ContainsRune(e, 0), !wanted(name), redact.Contains(value, o.Secrets):
			dropped = append(dropped, name)
		case isPassed(name, passed):
			env = append(env, e)
		case deniedName(name), redact.Holds(value, nil):
			dropped = append(dropped, name)
		default:
			env = append(env, e)
		}
	}
	if path == "" && runtime.GOOS != "windows" {
		path = defaultPath
	}
	env = overlay(env, []string{
		"PATH=" + path,
		"TERM=dumb",
		"PAGER=cat",
		"GIT_PAGER=cat",
		"MANPAGER=cat",
	})
	slices.Sort(dropped)
	return overlay(env, o.Set), slices.Compact(dropped)
}

func isPassed(name string, passed []string) bool {
	return slices.ContainsFunc(passed, func(p string) bool { return sameName(p, name) }) && Passable(name)
}

// overlay returns base with the entries of top in place of those of the same
// name. Of several entries of one name the last stays.
func overlay(base, top []string) []string {
	all := slices.Concat(base, top)
	seen := make(map[string]bool, len(all))
	out := make([]string, 0, len(all))
	for _, e := range slices.Backward(all) {
		name, _, _ := strings.Cut(e, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}

// cleanPath keeps the absolute entries that lie outside the workspace, and the entries inside that
// the options want. roots are the workspace's directories, with and without links (resolveAll).
func cleanPath(path string, roots []string, o EnvOptions) (clean string, dropped []string) {
	var keep []string
	for _, dir := range filepath.SplitList(path) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir
		}
		switch {
		case !filepath.IsAbs(dir), (inAny(roots, dir) || inAny(roots, real)) && !(o.ProjectPrograms && holdsProjectPrograms(dir)):
			dropped = append(dropped, "PATH "+dir)
		case strings.ContainsRune(dir, 0), redact.Holds(dir, o.Secrets):
			dropped = append(dropped, "PATH entry that holds a secret")
		default:
			keep = append(keep, dir)
		}
	}
	return strings.Join(keep, string(filepath.ListSeparator)), dropped
}

// holdsProjectPrograms reports a directory in which package managers put the programs of a
// project: node_modules/.bin, or the bin of a virtual environment of Python (PEP 405).
func holdsProjectPrograms(dir string) bool {
	parent, name := filepath.Split(filepath.Clean(dir))
	switch name {
	case ".bin":
		return filepath.Base(parent) == "node_modules"
	case "bin", "Scripts":
		info, err := os.Stat(filepath.Join(parent, "pyvenv.cfg"))
		return err == nil && info.Mode().IsRegular()
	}
	return false
}

func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
