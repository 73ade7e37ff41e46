package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// headCommit accepts the names that can only be commits.
var headCommit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(HEAD|@)([~^][0-9]*)*$`)
})

// surelyCommit accepts names that can be no path: HEAD with the marks of its ancestors, and hashes.
var surelyCommit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((HEAD|@)([~^][0-9]*)*|[0-9a-f]{7,64})$`)
})

// revisionMarks reports a name with a mark of the syntax of revisions (A..B, A^!, @{1}, A:path), some of
// which git takes for a revision before it looks for a file.
func revisionMarks(name string) bool {
	return strings.ContainsAny(name, "^~:") || strings.Contains(name, "..") || strings.Contains(name, "@{")
}

// objectPath reports an operand REVISION:PATH. The colon of a revision such as HEAD@{12:00} begins no path.
func objectPath(operand string) bool {
	revision, name, ok := strings.Cut(operand, ":")
	return ok && !strings.Contains(operand, "{") && revision != "" && name != "" && !strings.HasPrefix(name, "-")
}

// onlyObjectPaths reports a command that prints objects which its words name by paths, REVISION:PATH or :PATH.
func onlyObjectPaths(args []word) bool {
	sub, rest := args[0].value, args[1:]
	if sub == "cat-file" && len(rest) == 2 && hasWord("-p blob tree --textconv --filters", rest[0].value) {
		rest = rest[1:]
	} else if sub != "show" {
		return false
	}
	return len(rest) > 0 && !slices.ContainsFunc(rest, func(w word) bool {
		_, name, ok := strings.Cut(w.value, ":")
		return !ok || name == "" || strings.HasPrefix(w.value, "-") || strings.ContainsAny(name[:1], "/(!^") || strings.Contains(w.value, "{")
	})
}

// selectsByPattern reports a pathspec with magic (gitglossary(7)), unless it only excludes files.
func selectsByPattern(operand string) bool {
	if !strings.HasPrefix(operand, ":") {
		return false
	}
	return !strings.HasPrefix(operand, ":!") && !strings.HasPrefix(operand, ":^") && !strings.HasPrefix(operand, ":(exclude)")
}

// leavesOut reports a pathspec that only excludes files.
func leavesOut(operand string) bool {
	return strings.HasPrefix(operand, ":") && !selectsByPattern(operand)
}
