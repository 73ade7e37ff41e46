package command

import (
	"path"
	"slices"
	"strings"
)

// alwaysPrefix returns the narrowest argv prefix that "always" may store for a command
// that is asked about, and whether it is the whole command line (E5). Interpreters, and
// findings that come back each time, get none.
func alwaysPrefix(argv []string, f finding) (prefix []string, exact bool) {
	name := path.Base(argv[0])
	if f.validation || f.class == Dynamic || f.class == Wrapper || f.class == SecretRead || f.class == Outside {
		return nil, false
	}
	if isInterpreter(name) || hasWord("eval source . exec trap ssh awk gawk sed find xargs make npx pnpx bunx uvx", name) && name != "make" && name != "find" && name != "sed" {
		return nil, false
	}
	n := familyPrefix(name, argv)
	if n > 0 && n <= len(argv) && !slices.ContainsFunc(argv[:n], func(a string) bool { return strings.HasPrefix(a, "-") }) {
		return slices.Clone(argv[:n]), false
	}
	return slices.Clone(argv), true
}

// familyPrefix is the number of words that name what a tool will do, for tools whose
// remaining words change from call to call without changing that.
func familyPrefix(name string, argv []string) int {
	if len(argv) < 2 {
		return 0
	}
	sub := argv[1]
	switch name {
	case "git":
		if hasWord("add commit fetch switch stash restore", sub) {
			return 2
		}
	case "go":
		if hasWord("test build vet fmt list", sub) {
			return 2
		}
	case "cargo":
		if hasWord("test build check clippy fmt", sub) {
			return 2
		}
	case "npm", "pnpm", "yarn", "bun":
		if sub == "run" && len(argv) > 2 {
			return 3
		}
		if sub == "test" {
			return 2
		}
	}
	return 0
}
