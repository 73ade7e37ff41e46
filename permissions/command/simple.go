package command

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
	"acp-agent/permissions"
)

// simple is one simple command, as the checks see it.
type simple struct {
	words []word   // without the wrappers in front
	argv  []string // the values of words; argv[0] is the base name, in lower case
	inner []simple // the commands of the substitutions in its words
	at    dirs     // where it runs
}

func (s simple) name() string {
	if len(s.argv) == 0 {
		return ""
	}
	return s.argv[0]
}

// args returns the words after the name.
func (s simple) args() []word {
	if len(s.words) == 0 {
		return nil
	}
	return s.words[1:]
}

// call judges a simple command with its assignments and substitutions.
func (j *judge) call(stmt *syntax.Stmt, c *syntax.CallExpr, at dirs, floor finding) flow {
	var inner []simple
	for _, a := range c.Assigns {
		floor = floor.worse(j.assigns(a, at))
		inner = append(inner, j.inside(a, at, floor)...)
	}
	words := j.words.evaluate(c.Args, at)
	resolveOptionGlobs(words)
	for i := range words {
		for _, stmts := range words[i].inner {
			f := floor.worse(asks(Dynamic, "a substitution is only known when it runs"))
			inner = append(inner, j.stmts(stmts, at, f).ran...)
		}
	}
	if len(words) == 0 {
		j.parts.add(c, floor)
		return flow{ok: at, fail: at, ran: inner}
	}
	p := Part{Text: source(j.parts.text, c), Static: allStatic(words) && len(c.Assigns) == 0}
	ran, end := j.run(&p, words, inner, at, floor)
	ran = append(ran, inner...)
	end.ran = ran
	return end
}

// run judges the words of one simple command and adds its part. It returns the simple commands that
// ran, and the directories in which the shell may be afterwards.
func (j *judge) run(p *Part, words []word, inner []simple, at dirs, floor finding) ([]simple, flow) {
	u := unwrap(words)
	s := newSimple(u.words, inner, at)
	j.listing.askedIn = nil
	p.describe(words, u, s)
	f := floor.worse(u.floor)
	for _, w := range u.files {
		f = f.worse(j.judgePath(p, w, at, true))
	}
	if len(u.words) == 0 {
		p.Static = p.Static && !u.hidesOptions
		p.set(f.worse(asks(Wrapper, "the command runs another one that is not known").orNotSandboxable("the command runs another one that is not known")))
		j.parts.list = append(j.parts.list, *p)
		return nil, stay(at)
	}
	f = f.worse(j.denial.denied(p, s))
	found, moved := j.listing.listed(p, s, at)
	f = f.worse(found)
	if hidden := u.hidesOptions || len(messageFiles(s)) > 0; hidden && f.action != capability.Allow {
		p.Static = false
	}
	if f.action == capability.Ask {
		p.offerAlways(u, s, f)
		f = f.orNotReadOnly(j.commandNotReadOnly(u, s, found, at))
		f.notSandboxable = cmp.Or(f.notSandboxable, j.commandNotSandboxable(words, u, s, at))
	}
	p.set(f)
	p.askedIn = j.listing.askedIn
	j.parts.list = append(j.parts.list, *p)
	end := stay(at)
	if moved != nil {
		if end = *moved; u.wrapped { // in a process of its own, unless the wrapper is the shell's
			end.ok = end.ok.union(at)
		}
	}
	return append([]simple{s}, j.programs(u, s, at)...), end
}

// describe fills in what a part says about its command.
func (p *Part) describe(words []word, u unwrapped, s simple) {
	p.Argv = asWritten(u.words)
	p.Network, p.GitConfig = usesNetwork(s), writesGitConfig(s)
	p.anyFile = s.at.unknown || printsBinary(s)
	p.open = u.appends || slices.ContainsFunc(s.args(), func(w word) bool { return strings.Contains(w.value, "{}") })
	p.Background = u.detaches || detaches(s.name())
	p.spellings = spellings(words, s)
	if u.changes {
		p.outer = asWritten(words)
	}
}

// offerAlways says what "always" may store for a command that asks, or why it stores nothing.
func (p *Part) offerAlways(u unwrapped, s simple, f finding) {
	switch {
	case u.wrapped:
		p.NoAlways = "it runs another command"
	case len(p.Argv) == 0 || !p.Static:
		p.NoAlways = "it is not wholly known before it runs"
	case s.name() == "gh" && gitHubByDirectory(s):
		p.NoAlways = "the repository that it changes follows from the directory"
	default:
		p.Always, p.AlwaysExact, p.NoAlways = alwaysPrefix(p.Argv, f)
	}
}

// programs judges the programs that a command is given as text, and returns the commands in them.
func (j *judge) programs(u unwrapped, s simple, at dirs) (ran []simple) {
	floor := asks(Interpreter, "the command runs a program given as text")
	if s.name() == "find" {
		floor = asks(Wrapper, "find runs another command")
	}
	for _, text := range u.programs(s) {
		ran = append(ran, j.nested(text, at, floor)...)
	}
	return ran
}

// newSimple returns a simple command of these words.
func newSimple(words []word, inner []simple, at dirs) simple {
	s := simple{words: words, argv: values(words), inner: inner, at: at}
	if len(s.argv) > 0 {
		s.argv[0] = path.Base(strings.ReplaceAll(s.argv[0], `\`, "/"))
		// In lower case, because a file system that ignores case finds RM as well.
		s.argv[0] = strings.TrimSuffix(strings.ToLower(s.argv[0]), ".exe")
	}
	return s
}

// asWritten returns the values of words, and for a word that is not known, what the text says.
func asWritten(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.value
		if !w.static {
			out[i] = w.raw
		}
	}
	return out
}

// spellings returns other ways to write a command, so that a deny rule meets each of them: with and
// without its wrappers, its directory and the options before its subcommand. A deny of "git push*"
// meets "git -C . push", too.
func spellings(words []word, s simple) []string {
	var out []string
	add := func(argv []string) {
		if len(argv) == 0 {
			return
		}
		out = append(out, permissions.QuoteArgs(argv))
		argv = slices.Clone(argv)
		argv[0] = path.Base(argv[0])
		out = append(out, permissions.QuoteArgs(argv), strings.Join(argv, " "))
	}
	add(asWritten(words))
	add(values(s.words))
	if sub := subcommandWords(s); len(sub) > 0 && len(sub) < len(s.args()) && hasWord("git docker kubectl npm yarn pnpm cargo", s.name()) {
		add(asWritten(append([]word{s.words[0]}, sub...)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// assigns asks about an assignment. Its value may later be used as a path.
func (j *judge) assigns(a *syntax.Assign, at dirs) finding {
	f := asks(Dynamic, "the command sets a variable")
	if a.Name != nil && !ordinaryVariable(a.Name.Value) {
		f = f.orNotReadOnly(a.Name.Value + " changes what programs do")
	}
	if a.Name != nil && misleadsGit(a.Name.Value) {
		f = f.orNotSandboxable(a.Name.Value + " may give git another repository or other settings")
	}
	if a.Name != nil && strings.HasSuffix(a.Name.Value, "PATH") {
		return f // a list of directories to search
	}
	values := []*syntax.Word{a.Value}
	if a.Array != nil {
		for _, element := range a.Array.Elems {
			values = append(values, element.Value)
		}
	}
	for _, value := range values {
		if value != nil {
			f = f.orNotSandboxable(j.wordNotSandboxable(j.words.word(value, at), at, true))
		}
	}
	return f
}
