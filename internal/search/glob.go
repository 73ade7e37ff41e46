package search

import (
	"cmp"
	"context"
	"errors"
)

const defaultMaxResults = 1_000_000

// errLimit ends a walk that has found enough.
var errLimit = errors.New("limit reached")

// IgnoreFile is an ignore file that stands above the directory searched, such
// as a parent's .gitignore inside one git work tree.
type IgnoreFile struct {
	// Dir is the absolute path of the directory the patterns are relative to.
	Dir string
	// Content is the text of the file.
	Content []byte
}

// GlobOptions says what [Glob] looks for.
type GlobOptions struct {
	// Base is the absolute path of the root; results start with it.
	Base string
	// Pattern is a doublestar pattern relative to Base, or an absolute one
	// below it.
	Pattern string
	// Hidden shows names that start with a dot even where the pattern does not
	// name such a component.
	Hidden bool
	// NoIgnore shows what .gitignore files hide. ".git" stays hidden.
	NoIgnore bool
	// Ignore holds ignore files from above Base, outermost first.
	Ignore []IgnoreFile
	// MaxResults ends the walk after so many files. 0 means 1,000,000.
	MaxResults int
}

// GlobResult is what [Glob] found.
type GlobResult struct {
	// Paths are absolute, sorted by their bytes.
	Paths []string
	// Truncated says that a limit ended the walk: there may be more files.
	Truncated bool
	// Unreadable counts directories that could not be listed.
	Unreadable int
}

// Glob lists the regular files below root that match the pattern (R42-R45).
// A bad pattern is a [*PatternError].
func Glob(ctx context.Context, root Dir, o GlobOptions) (GlobResult, error) {
	p, err := newFilePattern(o.Base, o.Pattern)
	if err != nil {
		return GlobResult{}, err
	}
	limit := cmp.Or(o.MaxResults, defaultMaxResults)
	var res GlobResult
	w := &walker{
		base:     o.Base,
		hidden:   o.Hidden || p.hidden,
		noIgnore: o.NoIgnore,
		ignore:   o.Ignore,
		keepFile: p.match,
		keepDir:  p.descend,
		visit: func(b batch) error {
			defer b.dir.release()
			dir := printedDir(o.Base, b.rel)
			for _, name := range b.names {
				if len(res.Paths) == limit {
					res.Truncated = true
					return errLimit
				}
				res.Paths = append(res.Paths, dir+name)
			}
			return nil
		},
	}
	if err := w.walk(ctx, root); err != nil && !errors.Is(err, errLimit) {
		return GlobResult{}, err
	}
	res.Truncated = res.Truncated || w.truncated
	res.Unreadable = w.unreadable
	return res, nil
}
