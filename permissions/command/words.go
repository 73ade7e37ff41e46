package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/shell"
)

// unknown stands in a word's value for a piece that is only known when it runs.
const unknown = "\x00"

// word is a word of a command, evaluated as far as it is known before the text runs.
type word struct {
	value  string // with the unknown mark in the place of each piece that is not known
	raw    string // as written
	static bool   // all of it is known
	// number says that every piece that is not known is a number.
	number bool
	// optionGlob says that it is an option of grep with a glob, see resolveOptionGlobs.
	optionGlob bool
	// vars are the names of the variables whose value goes into the word.
	vars []string
	// inner are the substitutions inside the word: "$(…)", "<(…)", each as its statements.
	inner [][]*syntax.Stmt
}

// piece returns a word for a part of this one, such as the value of an option.
func (w word) piece(value string) word {
	return word{value: value, raw: w.raw, static: w.static}
}

// knownWord returns a word that is not in the text, such as the "." that find takes by itself.
func knownWord(value string) word { return word{value: value, raw: value, static: true} }

// String returns the word as a reason shows it.
func (w word) String() string {
	if w.raw != "" {
		return w.raw
	}
	return w.value
}

// evaluator evaluates the words of a text, as far as they are known before it runs.
type evaluator struct {
	text, home string
	numbers    numbers
}

// evaluate returns the words of a command. A word that holds $IFS counts as several, since that is
// what people write it for.
func (e *evaluator) evaluate(args []*syntax.Word, at dirs) []word {
	out := make([]word, 0, len(args))
	for _, arg := range args {
		w := e.word(arg, at)
		if !strings.Contains(w.value, ifsMark) {
			out = append(out, w)
			continue
		}
		for _, piece := range strings.Split(w.value, ifsMark) {
			if piece != "" {
				out = append(out, word{value: piece, raw: w.raw, vars: w.vars, inner: w.inner})
			}
		}
	}
	return out
}

// ifsMark stands for $IFS while a word is evaluated.
const ifsMark = "\x01"

func (e *evaluator) word(node *syntax.Word, at dirs) word {
	w := word{raw: source(e.text, node)}
	if known, ok := shell.Static(node); ok {
		w.value, w.static = known.Value, true
		if known.Tilde {
			w.value, w.static = shell.ExpandTilde(known.Value, e.home)
		}
		return w
	}
	w.number = true
	var b strings.Builder
	for i, part := range node.Parts {
		e.part(&w, &b, part, at, i == 0)
	}
	w.value = b.String()
	w.number = w.number && strings.Contains(w.value, unknown)
	w.optionGlob = optionGlob(node, w.value)
	return w
}

// optionGlob reports an unquoted glob that can only become more of the same option, since every name
// that it matches begins with that option. People write grep --include=*.go without quotes.
func optionGlob(node *syntax.Word, value string) bool {
	if lit := node.Lit(); lit == "" || strings.ContainsAny(lit, "/{}~`$\\") {
		return false
	}
	for _, option := range []string{"--include=", "--exclude=", "--exclude-dir="} {
		if strings.HasPrefix(value, option) {
			return true
		}
	}
	return false
}

// resolveOptionGlobs marks such globs as known where they are options of grep: before "--".
func resolveOptionGlobs(words []word) {
	if len(words) == 0 || !words[0].static || !hasWord("grep egrep fgrep", path.Base(words[0].value)) {
		return
	}
	for i := range words {
		if words[i].value == "--" {
			return
		}
		words[i].static = words[i].static || words[i].optionGlob
	}
}

// part appends what is known of one part of a word that is not static.
func (e *evaluator) part(w *word, b *strings.Builder, part syntax.WordPart, at dirs, first bool) {
	w.number = w.number && e.numeric(part)
	switch part := part.(type) {
	case *syntax.Lit:
		value := unescape(part.Value)
		if first {
			value, _ = shell.ExpandTilde(value, e.home)
		}
		b.WriteString(value)
	case *syntax.SglQuoted:
		if value, ok := shell.Static(&syntax.Word{Parts: []syntax.WordPart{part}}); ok {
			b.WriteString(value.Value)
			return
		}
		b.WriteString(ansiC(part.Value))
	case *syntax.DblQuoted:
		for _, p := range part.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				b.WriteString(unescape(lit.Value))
				continue
			}
			e.part(w, b, p, at, false)
		}
	case *syntax.ParamExp:
		b.WriteString(e.param(w, part, at))
	case *syntax.CmdSubst:
		e.collect(w, part)
		if dir, ok := at.only(); ok && isPwd(part) {
			b.WriteString(dir)
			return
		}
		b.WriteString(unknown)
	default:
		b.WriteString(unknown)
		e.collect(w, part)
	}
}

// numeric reports a part of a word of which nothing is unknown but numbers. The result of an
// arithmetic expansion is one.
func (e *evaluator) numeric(part syntax.WordPart) bool {
	switch part := part.(type) {
	case *syntax.Lit:
		return !strings.ContainsAny(part.Value, "*?[{~")
	case *syntax.SglQuoted, *syntax.ArithmExp:
		return true
	case *syntax.DblQuoted:
		return !part.Dollar // its own parts come one by one
	}
	alone := &syntax.Word{Parts: []syntax.WordPart{part}}
	return e.numbers.number(alone) || counted(alone)
}

// param returns the value of a parameter expansion, if it is one of the few that are known: "$HOME"
// must not hide what is denied.
func (e *evaluator) param(w *word, p *syntax.ParamExp, at dirs) string {
	e.collect(w, p)
	if p.Param == nil {
		return unknown
	}
	w.vars = append(w.vars, p.Param.Value)
	dir, dirKnown := at.only()
	switch plain := plainValue(p); {
	case p.Param.Value == "HOME" && p.Repl == nil && p.Slice == nil && !p.Length && !p.Excl && e.home != "":
		return e.home
	case plain && p.Param.Value == "PWD" && dirKnown:
		return dir
	case plain && p.Param.Value == "IFS":
		return ifsMark
	default:
		return unknown
	}
}

// plainValue reports "$NAME" or "${NAME}": an expansion that changes nothing about the value.
func plainValue(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil && !p.Excl && !p.Length && !p.Width && p.Names == 0
}

// collect notes the substitutions inside a part of a word, and the variables that it reads.
func (e *evaluator) collect(w *word, node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.inner = append(w.inner, n.Stmts)
			return false
		case *syntax.ProcSubst:
			w.inner = append(w.inner, n.Stmts)
			return false
		case *syntax.ParamExp:
			if n.Param != nil && syntax.Node(n) != node {
				w.vars = append(w.vars, n.Param.Value)
			}
		}
		return true
	})
}

// unescape removes the backslashes of a literal outside single quotes.
func unescape(lit string) string {
	if !strings.Contains(lit, `\`) {
		return lit
	}
	var b strings.Builder
	for i := 0; i < len(lit); i++ {
		if lit[i] == '\\' && i+1 < len(lit) {
			if i++; lit[i] == '\n' {
				continue
			}
		}
		b.WriteByte(lit[i])
	}
	return b.String()
}

func values(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.value
	}
	return out
}

func allStatic(words []word) bool {
	for _, w := range words {
		if !w.static {
			return false
		}
	}
	return true
}

// isPwd reports "$(pwd)", whose value is the working directory.
func isPwd(c *syntax.CmdSubst) bool {
	if len(c.Stmts) != 1 || !bare(c.Stmts[0]) {
		return false
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Assigns) == 0 && len(call.Args) == 1 && call.Args[0].Lit() == "pwd"
}
