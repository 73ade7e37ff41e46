package builtin

import (
	"context"
	"path/filepath"
	"slices"

	"acp-agent/internal/pathname"
	"acp-agent/tools"
)

// guidanceNames are the files that tell agents how to work in a directory.
func guidanceNames() []string { return []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"} }

// discover lists the guidance files that apply to path and that the session has
// not loaded, from the nearest directory up to the root that holds it (R34).
// The file itself and second names of one file are left out.
func discover(ctx context.Context, rt tools.Runtime, path string) []string {
	session := rt.Session()
	root := pathname.Innermost(session.Roots, path)
	if root == "" {
		return nil
	}
	seen := slices.Clone(session.Guidance)
	var found []string
	for dir := filepath.Dir(path); pathname.Contains(root, dir); dir = filepath.Dir(dir) {
		for _, name := range guidanceNames() {
			file := filepath.Join(dir, name)
			info, err := rt.FS().Stat(ctx, file)
			if err != nil || info.IsDir || file == path || slices.Contains(seen, file) || slices.Contains(seen, info.Real) {
				continue
			}
			seen = append(seen, file, info.Real)
			found = append(found, file)
		}
		if dir == root {
			break
		}
	}
	return found
}
