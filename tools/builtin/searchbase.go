package builtin

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/internal/search"
	"acp-agent/tools"
)

// globMeta are the characters that make a path element a pattern.
const globMeta = `*?[{\`

// searchBase says which directory a glob is searched from. Patterns within the
// session's directory are taken from there, others, which become absolute, from
// their longest plain directory.
func searchBase(env tools.Env, pattern string) (base, absolute string) {
	outside := filepath.IsAbs(pattern) || strings.HasPrefix(pattern, "../") || strings.HasPrefix(pattern, "~/")
	if !outside {
		return env.Cwd, pattern
	}
	plain, tail := pattern, ""
	if meta := strings.IndexAny(pattern, globMeta); meta >= 0 {
		cut := strings.LastIndexByte(pattern[:meta], '/') + 1
		plain, tail = pattern[:cut], pattern[cut:]
	}
	dir := env.Abs(plain)
	if tail == "" {
		dir, tail = filepath.Dir(dir), filepath.Base(dir)
	}
	absolute = strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/" + tail
	if pathname.Contains(env.Cwd, dir) {
		return env.Cwd, absolute
	}
	return dir, absolute
}

// ignoresAbove reads the .gitignore files of the directories above dir, up to
// the root that holds it, outermost first: they rule below dir too (R45).
func ignoresAbove(ctx context.Context, rt tools.Runtime, dir string) []search.IgnoreFile {
	root := pathname.Innermost(rt.Session().Roots, dir)
	if root == "" {
		return nil
	}
	var found []search.IgnoreFile
	for at := dir; at != root; {
		at = filepath.Dir(at)
		text, err := rt.FS().ReadText(ctx, filepath.Join(at, ".gitignore"))
		if err == nil && text.Content != "" {
			found = append([]search.IgnoreFile{{Dir: at, Content: []byte(text.Content)}}, found...)
		}
	}
	return found
}

// namesHidden reports whether a path below root has an element that begins with
// a dot: who names one, means it (R50).
func namesHidden(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if len(part) > 1 && part[0] == '.' && part != ".." {
			return true
		}
	}
	return false
}

// searchFailure gives an error of the search engine the shape a model reads.
func searchFailure(tool, base string, err error, hint string) error {
	if bad, ok := errors.AsType[*search.PatternError](err); ok {
		return &tools.Error{Kind: tools.BadInput, Message: tool + ": " + bad.Error(), Hint: hint, Err: err}
	}
	return fileFailure("search", base, err)
}
