package command

import (
	"path"
	"slices"
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
	for _, fam := range families(name) {
		if len(argv) > 1 && argv[1] == fam.sub && fam.accepts(argv[2:]) {
			return slices.Clone(argv[:2]), false
		}
	}
	return slices.Clone(argv), true
}
