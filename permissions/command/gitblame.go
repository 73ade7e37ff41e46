package command

import (
	"slices"
	"strings"
)

// gitBlameForm lists the options of git blame that only choose and mark lines. It leaves out --contents, -S and
// --ignore-revs-file, which read another file, and --reverse, which is about several commits.
var gitBlameForm = entry{args: argFiles, most: 2, options: options{
	flags: "bceflnpstw", valued: "L", may: "CM",
	long:    "--line-porcelain --porcelain --root --show-name --show-number --show-email --first-parent --no-progress --no-textconv",
	longMay: "--abbrev --date --since",
}}

// gitBlame judges git blame, which prints the lines of the one file that it names, as it is or as a commit has it.
// A setting of the repository can make it read one more file, of which an error shows a line: only a sandbox that
// hides secrets makes that harmless.
func (l *listing) gitBlame(part *Part, args []word, at dirs) finding {
	p, bad := gitBlameForm.parse(args[1:])
	switch {
	case bad != "":
		return asks(Unlisted, "the option "+bad+" of git "+args[0].value+" is not on the list of what only reads")
	case len(p.operands) == 0 || len(p.operands) > gitBlameForm.most:
		return asks(Unlisted, "git "+args[0].value+" is given more or less than a commit and a file")
	case slices.ContainsFunc(p.operands, func(w word) bool { return strings.Contains(w.value, ":") }):
		return asks(Unlisted, "git "+args[0].value+" is given a pattern or an object, which may be a file that holds secrets")
	case l.env.Reading == nil || !l.env.Reading():
		return asks(Unlisted, "git "+args[0].value+" may read a file that a setting of the repository names")
	}
	return l.gitOperands(part, gitBlameForm, p, at)
}
