package command

import (
	"path"
	"path/filepath"
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
	// lookedUp has the directories in which git was asked for names about the command that is judged.
	lookedUp []string
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
			return validates(ReasonTraversal), nil
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
		return l.git(part, s, at).worse(bounded(s, parsed{}))
	case "find":
		return l.find(part, s, at).worse(bounded(s, parsed{}))
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
		if !p.has("-e", "-f", "--regexp", "--file") {
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
	return f.worse(bounded(s, p))
}

// unlisted asks about a command that is not on the list, with the reason of R118 where a word holds
// "..".
func unlisted(s simple) finding {
	for _, w := range s.words {
		if traverses(w.value) {
			return validates(ReasonTraversal)
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

// changesDir follows cd, pushd and popd (C6).
func (l *listing) changesDir(part *Part, s simple, at dirs) (finding, flow) {
	lost := flow{ok: dirs{unknown: true}, fail: at}
	args := s.args()
	for _, w := range args {
		if traverses(w.value) {
			return validates(ReasonTraversal), l.moved(w, at, lost)
		}
	}
	if s.name() == "popd" || len(args) != 1 || strings.HasPrefix(args[0].value, "-") || strings.HasPrefix(args[0].value, "+") {
		return asks(Outside, s.name()+" goes to a directory that is not known"), lost
	}
	w := args[0]
	if !w.static {
		return asks(Dynamic, w.raw+" is only known when the command runs"), lost
	}
	if w.value == ".." && at.start && s.name() == "cd" {
		// A shell that is still where it began goes up to the same directory as programs do.
		w.value = filepath.Dir(at.list[0])
	}
	return allowed().worse(l.judgePath(part, w, at, false)), l.moved(w, at, lost)
}

// moved returns the flow of a cd to a word, or lost where it is not known where that leads.
func (ps *paths) moved(w word, at dirs, lost flow) flow {
	if !w.static || w.value == "" {
		return lost
	}
	names, ok := at.join(w.value)
	if !ok {
		return lost
	}
	next := dirs{}
	for _, name := range names {
		if resolved, _ := ps.env.Inside(name); resolved != "" {
			name = resolved
		}
		next = next.union(dirs{list: []string{name}})
	}
	return flow{ok: next, fail: at}
}

// version allows a program to print its version, in the exact forms of versionForms. All but a few
// programs may load code or settings that the project names, or be a shim that does. Those ask until
// the project is trusted (T2).
func (l *listing) version(s simple) (finding, bool) {
	if len(s.argv) != 2 {
		return finding{}, false
	}
	forms, ok := versionForms[s.name()]
	if !ok || !hasWord(forms, s.argv[1]) {
		return l.explains(s)
	}
	if l.env.Untrusted && !hasWord(unconfigured, s.name()) {
		return asks(Interpreter, s.name()+" may run code that this untrusted project names"), true
	}
	return allowed(), true
}

// unconfigured lists the programs that use nothing of a project when they print their version.
const unconfigured = "git bash cc gcc g++ clang cmake make perl php python python3 ruby lua node go"

// explains leaves --version and --help to a read-only sandbox, unless the program is the project's.
// Until the project is trusted, the program must also be one of the system that uses nothing of a
// project. A program that does not exist does nothing.
func (l *listing) explains(s simple) (finding, bool) {
	if !hasWord("--version --help", s.argv[1]) || readers[s.name()].free || hasWord("git test [ cd pushd popd", s.name()) {
		return finding{}, false
	}
	f := asks(Unlisted, s.words[0].String()+" is not on the list of commands that only read")
	_, reads := readers[s.name()]
	switch found, there := l.program(s); {
	case l.env.Program == nil, there && found == "":
	case !there, !l.env.Untrusted, (reads || hasWord(unconfigured, s.name())) && hasWord("/bin /usr/bin /usr/local/bin /opt/homebrew/bin", path.Dir(found)):
		f.notReadOnly = ""
	}
	return f, true
}

// program looks a program up on the PATH. found is empty for a program that lies in the project.
func (l *listing) program(s simple) (found string, there bool) {
	if l.env.Program == nil {
		return "", false
	}
	if found, there = l.env.Program(s.words[0].value); !there {
		return "", false
	}
	if _, inside := l.env.Inside(found); inside {
		return "", true
	}
	return found, true
}

// packages allows the listing of installed packages (R119).
func (l *listing) packages(s simple) finding {
	e := entry{options: options{
		flags: "agl", long: "--json --all --long --global --parseable --production --dev --prod --outdated --not-required --user --local --no-color --silent",
		longVal: "--depth --format --omit --pattern",
	}}
	sub := subcommand(s)
	if sub != "list" && !(sub == "ls" && s.name() != "yarn" && !strings.HasPrefix(s.name(), "pip")) {
		return unlisted(s)
	}
	p, bad := e.parse(s.args())
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
	if len(s.argv) == 3 && (s.argv[1] == "-v" || s.argv[1] == "-V") && !strings.Contains(s.argv[2], "/") {
		return allowed()
	}
	return unlisted(s)
}
