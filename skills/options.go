package skills

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"acp-agent/kinds"
)

// Options say where [Discover] and [LoadInstructions] look. Every field may be
// its zero value: that place is then left out.
type Options struct {
	// Cwd is the session's working directory, absolute.
	Cwd string
	// Roots are the session's further directories, absolute. Each is looked at
	// itself, not what lies above it.
	Roots []string
	// Home is the user's home directory, ConfigHome their directory of
	// settings ($XDG_CONFIG_HOME), in which the agent has a folder. Absolute.
	Home, ConfigHome string
	// Bundled holds the skills that the host ships, <name>/SKILL.md each.
	Bundled fs.FS
	// Paths are further directories of skills, or folders of one skill, as the
	// person configured them: absolute, or beginning with "~/".
	Paths []string
	// URLs are addresses of SKILL.md files, https only. Fetch gets one; it stops
	// when ctx ends, bounds what it reads and caches as it likes.
	URLs  []string
	Fetch func(ctx context.Context, url string) ([]byte, error)
	// Secret reports whether a path names a secret. It is asked for each path as
	// it was found and as its links resolve; nil means that none does.
	Secret func(path string) bool
}

// Warning is something that was found and could not be used, or only in part.
type Warning struct {
	// Path is the file, directory or URL that it is about.
	Path string
	// Text says what is wrong with it, in one line.
	Text string
}

// String returns the warning in one line.
func (w Warning) String() string { return w.Path + ": " + w.Text }

// maxWarnings bounds what a hostile folder can make a user read.
const maxWarnings = 50

type warnings []Warning

func (w *warnings) add(path, format string, args ...any) {
	switch {
	case len(*w) < maxWarnings-1:
		*w = append(*w, Warning{kinds.Line(path, 500), kinds.Line(fmt.Sprintf(format, args...), 1000)})
	case len(*w) == maxWarnings-1:
		*w = append(*w, Warning{kinds.Line(path, 500), "this and further problems are not listed"})
	}
}

// expand makes a configured path absolute; "" when it is not.
func (o Options) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && o.Home != "" {
		path = filepath.Join(o.Home, rest)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}
