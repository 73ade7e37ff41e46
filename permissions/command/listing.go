package command

import (
	"strings"
)

// argKind is what the operands of a listed command are.
type argKind uint8

const (
	argNone    argKind = iota // none are allowed
	argText                   // text that names no file
	argFiles                  // files whose content is printed; "-" is standard input
	argNames                  // files of which only names and attributes are printed
	argPattern                // a pattern, unless an option holds it, and then files
)

// entry is a row of the list of commands that only read.
type entry struct {
	options
	args  argKind
	most  int  // the most operands; 0 means any number
	free  bool // takes any words, and prints them at most
	check func(l *listing, part *Part, p parsed, at dirs) finding
}

// listing judges commands by the list of commands that only read.
type listing struct {
	*paths
	text string
	// askedIn has the directories in which git was asked for names about the command that is judged.
	askedIn []string
}

// listed judges a command by the list. moved is set for a command that changes the directory.
func (l *listing) listed(part *Part, s simple, at dirs) (f finding, moved *flow) {
	if !s.words[0].static {
		return asks(Dynamic, "the name of the command is only known when it runs"), nil
	}
	if hasWord("cd pushd popd", s.words[0].value) { // with a path, it is another program
		f, end := l.changesDir(part, s, at)
		return f, &end
	}
	for _, w := range s.args() {
		if w.static {
			continue
		}
		if traverses(w.value) {
			return asksEachTime(reasonTraversal), nil
		}
		return asks(Dynamic, w.raw+" is only known when the command runs"), nil
	}
	if systemName(s.words[0]) != s.name() {
		return unlisted(s), nil
	}
	return l.reads(part, s, at), nil
}

// reads judges a command all of whose words are known.
func (l *listing) reads(part *Part, s simple, at dirs) finding {
	if f, ok := l.version(s); ok {
		part.usesVariables = true
		return f
	}
	switch s.name() {
	case "git":
		return l.git(part, s, at).worse(unbounded(s, parsed{}))
	case "find":
		return l.find(part, s, at).worse(unbounded(s, parsed{}))
	case "test", "[":
		return l.test(part, s, at)
	case "npm", "yarn", "pnpm", "pip", "pip3":
		part.usesVariables = true
		return l.packages(s)
	case "command":
		return l.lookup(s)
	}
	if machineForms()[s.name()] != nil {
		return l.machine(part, s)
	}
	e, ok := readers[s.name()]
	if !ok {
		return unlisted(s)
	}
	if e.free {
		return allowed()
	}
	p, bad := e.parse(s.args())
	if bad != "" {
		return asks(Unlisted, "the option "+bad+" of "+s.name()+" is not on the list of what only reads")
	}
	if e.most > 0 && len(p.operands) > e.most {
		return asks(Unlisted, s.name()+" is given more operands than it reads")
	}
	return l.operands(part, s, e, p, at)
}

// operands checks the operands of a listed command, and its special rules.
func (l *listing) operands(part *Part, s simple, e entry, p parsed, at dirs) finding {
	f := allowed()
	for _, w := range p.files {
		f = f.worse(l.judgePath(part, w, at, true))
	}
	paths := p.operands
	switch e.args {
	case argNone:
		if len(paths) > 0 {
			return asks(Unlisted, s.name()+" is given an operand that is not on the list of what only reads")
		}
	case argText:
		paths = nil
	case argPattern:
		if !p.hasPattern() {
			paths = paths[min(1, len(paths)):]
		}
	}
	for _, w := range paths {
		if w.value == "-" && e.args != argNames {
			continue
		}
		f = f.worse(l.judgePath(part, w, at, e.args != argNames))
	}
	if e.args != argNone && e.args != argText {
		for _, w := range p.late {
			f = f.worse(l.judgePath(&Part{}, w, at, e.args != argNames))
		}
	}
	if e.check != nil {
		f = f.worse(e.check(l, part, p, at))
	}
	return f.worse(unbounded(s, p))
}

// unlisted asks about a command that is not on the list, with the reason of R118 where a word holds
// "..".
func unlisted(s simple) finding {
	for _, w := range s.words {
		if traverses(w.value) {
			return asksEachTime(reasonTraversal)
		}
	}
	name := s.words[0].String()
	if sub := subcommand(s); s.name() == "git" && sub != "" {
		name += " " + sub
	}
	switch {
	case isInterpreter(s.name()), hasWord("eval source .", s.name()):
		return asks(Interpreter, name+" runs a program that is not judged here")
	case usesNetwork(s):
		return asks(Unlisted, name+" uses the network")
	case len(filesWritten(s)) > 0:
		return asks(Writes, name+" changes files")
	default:
		return asks(Unlisted, name+" is not on the list of commands that only read")
	}
}

// packages allows the listing of installed packages (R119).
func (l *listing) packages(s simple) finding {
	o := options{
		flags: "agl", long: "--json --all --long --global --parseable --production --dev --prod --outdated --not-required --user --local --no-color --silent",
		longVal: "--depth --format --omit --pattern",
	}
	sub := subcommand(s)
	if sub != "list" && !(sub == "ls" && s.name() != "yarn" && !strings.HasPrefix(s.name(), "pip")) {
		return unlisted(s)
	}
	p, bad := o.parse(s.args())
	if bad != "" || len(p.operands) > 2 || len(p.operands) == 2 && strings.ContainsAny(p.operands[1].value, "/.") || p.has("--outdated") {
		return asks(Unlisted, s.name()+" list has an argument that is not on the list of what only reads")
	}
	if l.env.Untrusted {
		return asks(Interpreter, s.name()+" may run code that this untrusted project names")
	}
	return allowed()
}

// lookup allows "command -v NAME", which runs nothing.
func (l *listing) lookup(s simple) finding {
	if len(s.argv) == 3 && isCommandV(s.words) && !strings.Contains(s.argv[2], "/") {
		return allowed()
	}
	return unlisted(s)
}
