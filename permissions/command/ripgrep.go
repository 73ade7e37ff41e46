package command

// rgEntry is the row of rg. Options that run a program (--pre, --hostname-bin, -z), follow
// links (-L) or read what is hidden (-u, -.) are not here on purpose.
func rgEntry() entry {
	return entry{args: argPattern, check: checkRg, options: options{
		flags: "nNiSsvwxclFPoHhIqU0ap", valued: "egtTABCmdMrEj", file: "f",
		long:     "--line-number --no-line-number --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files --files-with-matches --files-without-match --fixed-strings --pcre2 --only-matching --with-filename --no-filename --no-heading --heading --quiet --multiline --multiline-dotall --null --text --vimgrep --json --stats --trim --column --no-column --no-messages --no-config --crlf --pretty --no-ignore --no-ignore-vcs",
		longVal:  "--glob --iglob --type --type-not --after-context --before-context --context --max-count --max-depth --max-columns --regexp --replace --sort --sortr --color --colors --encoding --threads",
		longFile: "--file",
	}}
}

// checkRg judges what rg goes through: all of a directory. What is hidden counts, although
// rg leaves it out, since a glob, a type or an ignore file in the tree can bring it back.
// Without a path it may be the input or the working directory.
func checkRg(j *judge, part *Part, p parsed, at dirs) finding {
	paths := p.operands
	var f finding
	switch {
	case p.has("--files"):
		if len(paths) > 0 { // the first one is no pattern
			f = j.operand(part, paths[0], at, false)
		}
	case !p.has("-e", "-f", "--regexp", "--file"):
		paths = paths[min(1, len(paths)):]
	}
	if len(paths) == 0 {
		return f.worse(j.tree(".", at, nil))
	}
	for _, w := range paths {
		f = f.worse(j.tree(w.value, at, nil))
	}
	return f
}
