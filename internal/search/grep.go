package search

import (
	"cmp"
	"context"
	"io"
	"runtime"
	"strings"
)

// GrepOptions says what [Grep] looks for and how much of it to show.
type GrepOptions struct {
	// Base is the absolute path of the root; results start with it.
	Base string
	// Pattern is an RE2 regular expression, or plain text with Literal.
	Pattern string
	// Glob limits the files. Without a slash it matches the base name at any
	// depth, with one the path relative to Base. Empty means every file.
	Glob string
	// CaseSensitive turns off the default folding of case.
	CaseSensitive bool
	// Literal takes Pattern as plain text.
	Literal bool
	// Hidden searches names that start with a dot even where Glob does not
	// name such a component.
	Hidden bool
	// NoIgnore searches what .gitignore files hide. ".git" stays out.
	NoIgnore bool
	// Ignore holds ignore files from above Base, outermost first.
	Ignore []IgnoreFile
	// MaxPerFile is the number of matching lines shown per file. 0 means 10.
	MaxPerFile int
	// MaxTotal is the number of matching lines shown. 0 means 200.
	MaxTotal int
	// MaxLine cuts the content of a shown line, in characters. 0 means 200.
	MaxLine int
	// MaxBytes ends the search once so many bytes of matches were written to
	// the full list. 0 means 256 MiB.
	MaxBytes int64
	// Workers is the number of files searched at once. 0 means GOMAXPROCS.
	Workers int
	// Skip names files that must not be read (secret files, R30). It is called
	// from several goroutines at once. Nil skips none.
	Skip func(absPath string) bool
}

// GrepResult is what [Grep] found.
type GrepResult struct {
	// Lines are "path:LINE: content", ordered by path and line, within the
	// limits of the options, always valid UTF-8.
	Lines []string
	// Total counts all matching lines, shown or not.
	Total int
	// Files counts the files that have a match.
	Files int
	// Truncated says that a limit ended the search early: Total is a lower
	// bound then.
	Truncated bool
	// Binary, Secret and Unreadable count files (Unreadable also directories)
	// that were not searched.
	Binary, Secret, Unreadable int
}

// Omitted is the number of matching lines that Lines leaves out.
func (r GrepResult) Omitted() int { return r.Total - len(r.Lines) }

// Grep searches the files below root and writes every matching line, whole, to
// all (nil for none) in the order of Lines (R46-R50). Finding nothing is not an
// error; a bad pattern is a [*PatternError]. With an error of ctx or all, the
// result is empty.
func Grep(ctx context.Context, root Dir, o GrepOptions, all io.Writer) (GrepResult, error) {
	o = o.withDefaults()
	m, err := compile(o.Pattern, o.Literal, o.CaseSensitive)
	if err != nil {
		return GrepResult{}, err
	}
	files, err := grepFiles(o)
	if err != nil {
		return GrepResult{}, err
	}
	w := &walker{
		base:     o.Base,
		hidden:   o.Hidden || files.hidden,
		noIgnore: o.NoIgnore,
		ignore:   o.Ignore,
		keepFile: files.keepFile,
		keepDir:  files.keepDir,
	}
	p := newPipeline(o, m, all)
	res, err := p.run(ctx, func(ctx context.Context, visit func(batch) error) error {
		w.visit = visit
		return w.walk(ctx, root)
	})
	if err != nil {
		return GrepResult{}, err
	}
	res.Truncated = res.Truncated || w.truncated
	res.Unreadable += w.unreadable
	return res, nil
}

// GrepFile searches one file of dir; o.Base is the absolute path of dir. Ignore
// and hidden rules and o.Glob do not apply to a file named outright, Skip does,
// and comes first. A file that cannot be opened is an error here.
func GrepFile(ctx context.Context, dir Dir, name string, o GrepOptions, all io.Writer) (GrepResult, error) {
	o = o.withDefaults()
	m, err := compile(o.Pattern, o.Literal, o.CaseSensitive)
	if err != nil {
		return GrepResult{}, err
	}
	if o.Skip != nil && o.Skip(printedDir(o.Base, "")+name) {
		return GrepResult{Secret: 1}, nil
	}
	f, err := dir.Open(name)
	if err != nil {
		return GrepResult{}, err
	}
	f.Close()                                 //nolint:errcheck // only tried: the search opens it again
	shared := (&sharedDir{Dir: dir}).retain() // the caller's own reference: never the last
	o.Workers = 1
	return newPipeline(o, m, all).run(ctx, func(_ context.Context, visit func(batch) error) error {
		return visit(batch{dir: shared.retain(), names: []string{name}})
	})
}

func (o GrepOptions) withDefaults() GrepOptions {
	o.MaxPerFile = cmp.Or(o.MaxPerFile, 10)
	o.MaxTotal = cmp.Or(o.MaxTotal, 200)
	o.MaxLine = cmp.Or(o.MaxLine, 200)
	o.MaxBytes = cmp.Or(o.MaxBytes, 256<<20)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	return o
}

// A fileFilter says which files a glob of grep means.
type fileFilter struct {
	hidden   bool
	keepFile func(dir, name string) bool
	keepDir  func(name string, depth int) bool
}

// grepFiles reads the glob: a leading "!" takes files out.
func grepFiles(o GrepOptions) (fileFilter, error) {
	f := fileFilter{
		keepFile: func(string, string) bool { return true },
		keepDir:  func(string, int) bool { return true },
	}
	if o.Glob == "" {
		return f, nil
	}
	glob, negated := strings.CutPrefix(o.Glob, "!")
	p, err := newFilePattern(o.Base, glob)
	if err != nil {
		return f, err
	}
	p.anyDepth = !strings.Contains(glob, "/")
	f.keepFile = p.match
	if negated {
		f.keepFile = func(dir, name string) bool { return !p.match(dir, name) }
		return f, nil
	}
	f.hidden = p.hidden
	f.keepDir = p.descend
	return f, nil
}
