package builtin

import (
	"runtime"
	"slices"
	"strings"

	"acp-agent/tools"
)

// realName is what a path comes to: links followed, and case folded where file
// systems usually do.
func realName(path string, env tools.Env) string {
	if env.Resolve != nil {
		path = env.Resolve(path)
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		path = strings.ToLower(path)
	}
	return path
}

// lockOrder is the order in which a call locks its files: one for all calls and agents,
// whatever links the files are named by, so that no two calls wait for each other (R40).
func lockOrder(paths []string, env tools.Env) []string {
	return slices.SortedFunc(slices.Values(paths), func(a, b string) int {
		return strings.Compare(realName(a, env), realName(b, env))
	})
}
