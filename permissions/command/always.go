package command

import (
	"path"
	"slices"
	"strings"
)

// alwaysPrefix returns the narrowest prefix of argv that "always" may store for a command that asks, and
// whether the rule is for exactly these words (E5). why says why there is none, for an interpreter or a
// finding that asks each time.
func alwaysPrefix(argv []string, f finding) (prefix []string, exact bool, why string) {
	name := path.Base(argv[0])
	switch {
	case f.validation:
		return nil, false, "a finding of this kind is asked about each time"
	case f.class == Dynamic:
		return nil, false, "it is not wholly known before it runs"
	case f.class == Wrapper:
		return nil, false, "it runs another command"
	case f.class == SecretRead:
		return nil, false, "it may show secrets"
	case f.class == Outside:
		return nil, false, "it reaches outside the workspace, or may"
	}
	if isInterpreter(name) || hasWord("eval source . exec trap ssh awk gawk xargs npx pnpx bunx uvx", name) {
		return nil, false, "it runs a program that is not judged here"
	}
	for _, fam := range families(name) {
		if len(argv) > 1 && argv[1] == fam.sub && fam.accepts(argv[2:]) {
			return slices.Clone(argv[:2]), false, ""
		}
	}
	return slices.Clone(argv), true, ""
}

// family is a subcommand whose other words may change from call to call without changing what it does,
// as long as its options are among these (E5).
type family struct {
	sub string // the subcommand
	options
	// goFlags says that options are spelt as those of Go: with one dash or two, names in full.
	goFlags bool
}

// families returns the families of a program. A command that fetches, builds, moves files or runs a script
// of the project is not in one: "always" stores all of its words.
func families(program string) []family {
	switch program {
	case "git":
		return []family{
			{sub: "add", options: options{flags: "AuvnN", long: "--all --update --verbose --dry-run --intent-to-add"}},
			{sub: "commit", options: options{flags: "aqs", valued: "m", long: "--all --quiet --signoff --no-edit", longVal: "--message"}},
		}
	case "go":
		return []family{
			{sub: "test", goFlags: true, options: options{
				long:    "v race short cover failfast json benchmem",
				longVal: "run skip count timeout bench benchtime parallel cpu shuffle",
			}},
			{sub: "fmt", goFlags: true},
		}
	case "cargo":
		cargo := options{flags: "vqr", valued: "p", long: "--verbose --quiet --release --all --workspace --all-targets --all-features --lib --bins --tests --locked --offline --no-run --no-fail-fast", longVal: "--package --features --test"}
		return []family{{sub: "test", options: cargo}, {sub: "check", options: cargo}, {sub: "clippy", options: cargo}, {sub: "fmt", options: options{flags: "vq", long: "--all --check"}}}
	case "npm", "pnpm", "yarn", "bun":
		return []family{{sub: "test"}}
	}
	return nil
}

// accepts reports whether the words after the subcommand change nothing about what it does: its options
// are listed ones, and its operands lie beneath the working directory.
func (f family) accepts(args []string) bool {
	words := make([]word, 0, len(args))
	for _, a := range args {
		if f.goFlags && len(a) > 1 && a[0] == '-' {
			a = "--" + strings.TrimLeft(a, "-")
		}
		words = append(words, word{value: a, static: true})
	}
	o := f.options
	if f.goFlags {
		o.long, o.longVal = dashed(o.long), dashed(o.longVal)
	}
	p, bad := o.parse(words)
	if bad != "" {
		return false
	}
	for i, w := range p.operands {
		if v := w.value; v == "" || strings.HasPrefix(v, "-") || isAbs(v) || v == ".." || traverses(v) || i == 0 && strings.HasPrefix(v, "+") {
			return false
		}
	}
	return true
}

// dashed returns long options with two dashes.
func dashed(names string) string {
	if names == "" {
		return ""
	}
	return "--" + strings.ReplaceAll(names, " ", " --")
}
