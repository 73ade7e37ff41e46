package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
)

// maxLinks bounds how many links are followed for one path.
const maxLinks = 255

// ChangeableProgram returns the first of some names that a command with a login would look for, on its PATH, where sessions of
// this process can write, also by way of a link that leads there; "" when there is none. What is not there yet counts, too: a
// job could make it until the command looks.
func (c *Commands) ChangeableProgram(names []string) string {
	r := c.runner
	r.setUp.Do(func() { r.setUpCommands() })
	dirs := filepath.SplitList(variable(r.env, "PATH"))
	var roots []string
	for _, dir := range slices.Concat(r.writable(), r.o.Sandbox.Box.Given()) {
		roots = append(roots, filepath.Clean(dir))
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			roots = append(roots, real)
		}
	}
	for _, name := range names {
		for _, dir := range dirs {
			path := dir + "/" + name // a ".." is followed below, after links
			if !filepath.IsAbs(dir) || leadsInto(roots, path) {
				return name
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				break
			}
		}
	}
	return ""
}

// leadsInto reports an absolute path of which a part, or a link on the way, lies in one of the roots.
func leadsInto(roots []string, path string) bool {
	at, links := "/", 0
	for rest := strings.Split(path, "/"); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		next := filepath.Join(at, name)
		if slices.ContainsFunc(roots, func(root string) bool { return pathname.Contains(root, next) }) {
			return true
		}
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return true
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = slices.Concat(strings.Split(target, "/"), rest)
	}
	return false
}
