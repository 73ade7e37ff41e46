package command

import (
	"path"
	"slices"
)

// alwaysPrefix returns the narrowest prefix of argv that "always" may store for a command
// that is asked about, and whether the rule is for exactly these words (E5). For interpreters, and for
// findings that are asked about each time, there is none; why says so.
func alwaysPrefix(argv []string, f finding) (prefix []string, exact bool, why string) {
	name := path.Base(argv[0])
	switch {
	case f.validation:
		return nil, false, "a finding of this kind is asked about each time"
	case f.class == Dynamic:
		return nil, false, "it is not wholly known before it runs"
	case f.class == Wrapper:
		return nil, false, "it runs another command"
	case f.class == SecretRead:
		return nil, false, "it may show secrets"
	case f.class == Outside:
		return nil, false, "it reaches outside the workspace, or may"
	}
	if isInterpreter(name) || hasWord("eval source . exec trap ssh awk gawk xargs npx pnpx bunx uvx", name) {
		return nil, false, "it runs a program that is not judged here"
	}
	for _, fam := range families(name) {
		if len(argv) > 1 && argv[1] == fam.sub && fam.accepts(argv[2:]) {
			return slices.Clone(argv[:2]), false, ""
		}
	}
	return slices.Clone(argv), true, ""
}
