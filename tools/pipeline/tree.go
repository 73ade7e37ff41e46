package pipeline

import (
	"context"
	"path/filepath"
	"strings"

	"acp-agent/internal/search"
)

// Bounds of the look for secrets beneath a directory.
const (
	maxTreeEntries = 5000
	maxTreeDepth   = 40
)

// holdsSecret reports whether a file beneath a directory has the name of a secret, so
// that a command that reads all of it is asked about (P8). Links are not followed, for
// such commands do not follow them either. What is too large to be looked through, or
// cannot be, is taken to hold one.
func (r *running) holdsSecret(dir string, hidden bool) bool {
	access, err := r.pipeline.Workspace.Check(dir, false)
	if err != nil || !access.Inside {
		return true
	}
	if r.regular(access.Real) {
		return r.pipeline.Workspace.SecretName(access.Real)
	}
	runtime := r.pipeline.Workspace.Call(r.ID+"/tree", r.Tool, nil)
	defer runtime.Finish()
	top, err := runtime.FS().Dir(context.Background(), access.Real)
	if err != nil {
		return true
	}
	look := treeLook{secret: r.pipeline.Workspace.SecretName, hidden: hidden, left: maxTreeEntries}
	return look.holds(top, access.Real, 0)
}

// treeLook looks for secrets by their names.
type treeLook struct {
	secret func(path string) bool
	hidden bool // whether what is hidden counts
	left   int
}

// holds looks through dir, and closes it.
func (l *treeLook) holds(dir search.Dir, path string, depth int) bool {
	defer dir.Close()
	entries, err := dir.ReadDir()
	if l.left -= len(entries); err != nil || l.left < 0 || depth > maxTreeDepth {
		return true
	}
	for _, entry := range entries {
		if !l.hidden && strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		name := filepath.Join(path, entry.Name())
		if l.secret(name) {
			return true
		}
		if !entry.IsDir() {
			continue
		}
		if sub, err := dir.Sub(entry.Name()); err != nil || l.holds(sub, name, depth+1) {
			return true
		}
	}
	return false
}
