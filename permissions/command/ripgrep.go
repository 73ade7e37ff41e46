package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// rgEntry returns the row of rg in the list. Options that run a program (--pre, --hostname-bin, -z), follow
// links (-L) or read hidden files (-u, -.) are left out on purpose.
func rgEntry() entry {
	return entry{args: argPattern, check: checkRg, options: options{
		flags: "nNiSsvwxclFPoHhIqU0ap", valued: "egtTABCmdMrEj", file: "f",
		long:     "--line-number --no-line-number --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files --files-with-matches --files-without-match --fixed-strings --pcre2 --only-matching --with-filename --no-filename --no-heading --heading --quiet --multiline --multiline-dotall --null --text --vimgrep --json --stats --trim --column --no-column --no-messages --no-config --crlf --pretty --no-ignore --no-ignore-vcs",
		longVal:  "--glob --iglob --type --type-not --after-context --before-context --context --max-count --max-depth --max-columns --regexp --replace --sort --sortr --color --colors --encoding --threads",
		longFile: "--file",
	}}
}

// notHidden is the glob with which rg leaves out hidden files, whatever an ignore file in the tree or a
// type says.
const notHidden = "!.*"

// checkRg judges what rg searches: all of a directory. Hidden files count, since an ignore file in the
// tree can bring them back, unless a glob leaves them out for certain. Without a path, rg searches its
// input or the working directory.
func checkRg(l *listing, part *Part, p parsed, at dirs) finding {
	paths := p.operands
	var f finding
	switch {
	case p.has("--files"):
		if len(paths) > 0 { // the first one is not a pattern
			f = l.judgePath(part, paths[0], at, false)
		}
	case !p.hasPattern():
		paths = paths[min(1, len(paths)):]
	}
	reads := readByRg(p)
	if len(paths) == 0 {
		return f.worse(l.tree(".", at, reads))
	}
	for _, w := range paths {
		if w.value != "-" || p.has("--files") {
			f = f.worse(l.tree(w.value, at, reads))
		}
	}
	return f
}

// readByRg returns which files rg reads beneath a directory, where its globs say it: files whose names end
// as the globs do, or files that are not hidden. Nil means any.
func readByRg(p parsed) func(name string) bool {
	if p.has("--iglob") {
		return nil
	}
	hidden, ends := true, []string(nil)
	for glob := range strings.SplitSeq(p.seen["-g"]+"\n"+p.seen["--glob"], "\n") {
		switch {
		case glob == notHidden:
			hidden = false
		case glob == "" || strings.HasPrefix(glob, "!"):
		case suffixGlob().MatchString(glob):
			ends = append(ends, strings.ToLower(glob[1:]))
		default:
			return nil
		}
	}
	switch {
	case len(ends) > 0:
		return endsAs(ends)
	case !hidden:
		return func(name string) bool { return !strings.HasPrefix(name, ".") }
	}
	return nil
}

// rg writes out what rg does by default: after a pipe it reads its input, and it leaves out hidden files.
func (e *expander) rg(c *syntax.CallExpr, argv []string) {
	words := make([]word, len(argv)-1)
	for i, arg := range argv[1:] {
		words[i] = word{value: arg, static: true}
	}
	p, bad := rgEntry().parse(words)
	if bad != "" {
		return
	}
	patterns := 1
	if p.hasPattern() {
		patterns = 0
	}
	switch end := int(c.End().Offset()); {
	case e.piped && len(p.operands) == patterns && !p.has("--files"):
		e.edits = append(e.edits, edit{end, end, " -"})
	case readByRg(p) == nil && !p.has("--iglob"):
		at := int(c.Args[0].End().Offset())
		e.edits = append(e.edits, edit{at, at, " --glob '" + notHidden + "'"})
	}
}
