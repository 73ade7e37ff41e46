package command

import (
	"strings"
)

// awkReads reports a script of awk that does nothing but read its input, calculate and print: it runs no
// program, opens no file, and sees nothing of the environment. It says nothing about how long the script
// takes and how much it prints. A script with anything that the reader does not know, or that some awk
// might read in another way, is not one.
func awkReads(script string) bool {
	tokens, ok := awkTokens(script)
	if !ok {
		return false
	}
	r := &awkReader{tokens: tokens}
	r.program()
	return !r.failed && r.at == len(tokens)
}

// Names that are not ordinary variables. The functions of awkFunctions run nothing and open nothing. A
// script that uses a variable of awkClosed may see the environment, or make awk read another file.
const (
	awkFunctions = "length substr index split sub gsub match tolower toupper sprintf int sqrt exp log sin cos atan2 rand srand strftime systime gensub"
	awkClosed    = "ENVIRON PROCINFO ARGV ARGC ARGIND SYMTAB FUNCTAB NF BINMODE LINT TEXTDOMAIN FPAT FIELDWIDTHS ERRNO IGNORECASE CONVFMT OFMT"
	awkKeywords  = "BEGIN END function func getline system close fflush return while do break continue nextfile switch case default include load namespace eval " +
		"BEGINFILE ENDFILE print printf if else for in next exit delete"
	awkMaxDepth = 40
)

// awkVariables reports values of -v, one on a line, that only set variables of the script.
func awkVariables(values string) bool {
	for set := range strings.SplitSeq(values, "\n") {
		name, _, ok := strings.Cut(set, "=")
		if values != "" && (!ok || !variableName().MatchString(name) || hasWord(awkClosed, name)) {
			return false
		}
	}
	return true
}

// awkReader parses the tokens of a script by that part of the grammar of awk that only reads.
type awkReader struct {
	tokens []awkToken
	at     int
	depth  int
	failed bool
	// bare says that ">" would be a redirection here: among the operands of print, outside of brackets.
	bare bool
}

func (r *awkReader) fail() { r.failed = true }

func (r *awkReader) next() awkToken {
	if r.failed || r.at >= len(r.tokens) {
		return awkToken{}
	}
	return r.tokens[r.at]
}

// is reports whether the next token is one of a list of operators and keywords.
func (r *awkReader) is(list string) bool {
	t := r.next()
	return t.kind == 'o' && t.text == "\n" && strings.HasPrefix(list, "\n") || (t.kind == 'o' || t.kind == 'w') && hasWord(strings.TrimPrefix(list, "\n "), t.text)
}

// take consumes the next token if it is one of the list.
func (r *awkReader) take(list string) bool {
	if !r.is(list) {
		return false
	}
	r.at++
	return true
}

func (r *awkReader) expect(text string) {
	if !r.take(text) {
		r.fail()
	}
}

// inside reads something in brackets, where ">" compares.
func (r *awkReader) inside(read func()) {
	bare := r.bare
	r.bare = false
	if r.depth++; r.depth > awkMaxDepth {
		r.fail()
	} else {
		read()
	}
	r.depth--
	r.bare = bare
}

func (r *awkReader) skipEnds() {
	for r.take("\n ;") {
	}
}

func (r *awkReader) program() {
	for r.skipEnds(); !r.failed && r.at < len(r.tokens); r.skipEnds() {
		if !r.take("BEGIN END") && !r.is("{") {
			if r.expression(); r.take(",") {
				r.expression()
			}
			if !r.is("{") {
				continue
			}
		}
		r.block()
	}
}

func (r *awkReader) block() {
	r.expect("{")
	r.inside(func() {
		for r.skipEnds(); !r.failed && !r.is("}"); r.skipEnds() {
			r.statement()
		}
	})
	r.expect("}")
}

func (r *awkReader) statement() {
	switch {
	case r.failed:
	case r.is("{"):
		r.block()
	case r.take("if"):
		r.condition()
		r.branch()
		at := r.at
		if r.skipEnds(); r.take("else") {
			r.branch()
		} else {
			r.at = at
		}
	case r.take("while"):
		r.condition()
		r.branch()
	case r.take("for"):
		r.loop()
		r.branch()
	default:
		r.simple()
	}
}

// branch reads the statement after a condition.
func (r *awkReader) branch() {
	for r.take("\n ") {
	}
	if r.is(";") {
		r.fail() // an empty statement
		return
	}
	r.inside(r.statement)
}

func (r *awkReader) condition() {
	r.expect("(")
	r.inside(r.expression)
	r.expect(")")
}

func (r *awkReader) loop() {
	r.expect("(")
	r.inside(func() {
		for i := range 3 {
			if i > 0 {
				if i == 1 && r.is(")") {
					return // NAME in NAME
				}
				r.expect(";")
			}
			if !r.is("; )") {
				r.expression()
			}
		}
	})
	r.expect(")")
}

// simple reads a statement that ends at the end of its line.
func (r *awkReader) simple() {
	switch {
	case r.take("print printf"):
		r.bare = true
		if !r.is("\n ; }") && r.at < len(r.tokens) {
			r.list()
		}
		r.bare = false
	case r.take("next"):
	case r.take("exit"):
		if !r.is("\n ; }") && r.at < len(r.tokens) {
			r.expression()
		}
	case r.take("delete"):
		r.primary()
	default:
		r.expression()
	}
	if !r.failed && r.at < len(r.tokens) && !r.is("\n ; }") {
		r.fail()
	}
}

func (r *awkReader) list() {
	r.expression()
	for r.take(",") {
		r.expression()
	}
}

// expression reads values with operators between them. Precedence does not matter to what the script does.
func (r *awkReader) expression() {
	if r.depth++; r.depth > awkMaxDepth {
		r.fail()
	}
	defer func() { r.depth-- }()
	for !r.failed {
		for r.take("! - +") {
		}
		r.primary()
		switch {
		case r.bare && r.is("> >="):
			r.fail()
		case r.take("&& || == != <= >= < > ~ !~ + - * / % ^ in ? :"):
		case r.starts(): // concatenation
		default:
			return
		}
	}
}

// starts reports whether a value starts here.
func (r *awkReader) starts() bool {
	switch t := r.next(); t.kind {
	case 'n', 's', 'r':
		return true
	case 'w':
		return !hasWord(awkKeywords, t.text)
	case 'o':
		return hasWord("$ (", t.text)
	}
	return false
}

// primary reads a value with its increments and its assignment. A list in brackets counts as one, as print
// takes it.
func (r *awkReader) primary() {
	r.take("++ --")
	fields := 0
	for r.take("$") {
		fields++
		r.take("++ --")
	}
	t := r.next()
	name := ""
	switch {
	case r.failed:
		return
	case t.kind == 'n' || t.kind == 's' || t.kind == 'r':
		r.at++
	case t.kind == 'w' && hasWord(awkFunctions, t.text):
		r.at++
		if r.take("(") {
			if !r.is(")") {
				r.inside(r.list)
			}
			r.expect(")")
		} else if t.text != "length" {
			r.fail()
		}
	case t.kind == 'w' && !t.call && !hasWord(awkKeywords, t.text):
		name = t.text
		r.at++
		if r.take("[") {
			r.inside(r.list)
			r.expect("]")
		}
	case r.take("("):
		r.inside(r.list)
		r.expect(")")
	default:
		r.fail()
	}
	if hasWord(awkClosed, name) && (name != "NF" || r.is("= += -= *= /= %= ^= ++ --")) {
		r.fail()
	}
	r.take("++ --")
	if !r.take("= += -= *= /= %= ^=") {
		return
	}
	if fields > 0 && !(t.kind == 'n' && threeDigits(t.text)) && name != "NF" {
		r.fail() // to set a field of a high number makes all fields before it
	}
	if name == "" && fields == 0 {
		r.fail()
	}
	r.expression()
}
