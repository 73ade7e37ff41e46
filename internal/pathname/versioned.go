package pathname

import (
	"slices"
	"strings"
)

// versionedDirs are the directories in which version control systems other than git keep the content of
// files, as it was or is, by the directory of their data, in lower case.
var versionedDirs = map[string][]string{
	".svn":   {"pristine", "text-base"},
	".hg":    {"store", "patches", "shelved", "shelve-backup", "merge", "strip-backup", "largefiles"},
	".bzr":   {"repository", "checkout"},
	".jj":    {"repo"},
	".pijul": {"pristine", "changes"},
	"_darcs": {"pristine", "pristine.hashed", "patches"},
	"cvs":    {"base"},
}

// KeepsContent reports whether a version control system other than git keeps the content of files in the
// directory name of the directory dir; both are single names, which are compared without regard to case.
func KeepsContent(dir, name string) bool {
	dir, name = strings.ToLower(dir), strings.ToLower(name)
	// A further queue of patches that Mercurial keeps has a directory of its own.
	return slices.Contains(versionedDirs[dir], name) || dir == ".hg" && strings.HasPrefix(name, "patches-")
}
