package command

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
)

// confined allows a text of which not all is known before it runs, if every command in it is on the
// list of commands that only read, and a read-only sandbox confines them: an unknown word can then
// make a command read another file, and do nothing else. A text that asks for any other reason still
// asks.
func confined(v Verdict, file *syntax.File, env Env) Verdict {
	if v.Action != capability.Ask || v.Validation || env.Reading == nil || setsSpecialVariable(file) || evaluatesValues(file) {
		return v
	}
	setsVariable := changesEnvironment(file)
	for _, p := range v.Parts {
		if p.Action != capability.Allow && (p.Action != capability.Ask || p.notReadOnly != "") || p.usesVariables && setsVariable {
			return v
		}
	}
	if holdsAddress(env, v.Parts) || !env.Reading() {
		return v
	}
	for i := range v.Parts {
		v.Parts[i].set(finding{action: capability.Allow, class: ReadOnly, reason: confinedReason, set: true})
	}
	v.Action, v.Class, v.Reason, v.ToAllow = capability.Allow, ReadOnly, confinedReason, nil
	return v
}

// holdsAddress reports that git keeps a user and password in the directories of the session, or in others that the
// text reads, which an answer has opened. The sandbox does not hide that file, and an unknown word may name it.
func holdsAddress(env Env, parts []Part) bool {
	dirs := append([]string{env.Cwd}, env.Roots...)
	for _, p := range parts {
		for _, path := range p.Reads {
			// Within git's own directory git finds no repository by that name.
			dir, _, _ := strings.Cut(filepath.ToSlash(path)+"/", "/.git/")
			if dir = filepath.Clean(dir); !slices.ContainsFunc(dirs, func(known string) bool { return pathname.Contains(known, dir) }) {
				dirs = append(dirs, dir)
			}
		}
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		// Of a repository that has no working tree the directory is git's own.
		return env.GitHoldsAddress != nil && env.GitHoldsAddress(dir) || env.HoldsAddress != nil && env.HoldsAddress(filepath.Join(dir, "config"))
	})
}

// setsSpecialVariable reports a text that sets a variable which programs or the shell use, or one whose
// name is only known when the text runs.
func setsSpecialVariable(file *syntax.File) bool {
	special := func(name *syntax.Lit) bool { return name == nil || !ordinaryVariable(name.Value) }
	return anyNode(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.WordIter:
			return special(n.Name)
		case *syntax.ParamExp:
			return assignsDefault(n) && special(n.Param)
		case *syntax.DeclClause:
			return slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool {
				if a.Name != nil {
					return special(a.Name)
				}
				option := ""
				if a.Value != nil {
					option = a.Value.Lit()
				}
				// A reference to another variable, an integer whose value is evaluated, or an unknown name.
				return !strings.HasPrefix(option, "-") || strings.ContainsAny(option, "ni")
			})
		}
		return false
	})
}

// changesEnvironment reports a text that may change the environment of its commands: it gives a command
// a variable, exports one, or sets one in upper case, which may be exported already. What a program
// that is not on the list runs when it prints its version, such variables may say (LUA_INIT, PIP_PYTHON).
func changesEnvironment(file *syntax.File) bool {
	upper := func(name *syntax.Lit) bool { return name != nil && name.Value != strings.ToLower(name.Value) }
	return anyNode(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			return len(n.Assigns) > 0 && len(n.Args) > 0
		case *syntax.DeclClause:
			return len(n.Args) > 0
		case *syntax.Assign:
			return upper(n.Name)
		case *syntax.WordIter:
			return upper(n.Name)
		case *syntax.ParamExp:
			return assignsDefault(n) && upper(n.Param)
		}
		return false
	})
}

// evaluatesValues reports a text in which the shell takes the value of a variable for an expression, or
// for the name of another variable. It then runs the substitutions in that value.
func evaluatesValues(file *syntax.File) bool {
	known := numbersOf(file)
	evaluates := func(index syntax.ArithmExpr) bool { // an index, unless it is a number
		w, ok := index.(*syntax.Word)
		return index != nil && (!ok || !digits(w.Lit()))
	}
	return anyNode(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.ParamExp:
			return n.Slice != nil || expandsAsPrompt(n) || n.Excl && !listsKeys(n) || evaluatesIndex(n)
		case *syntax.ArithmExp:
			return !known.calculates(n.X)
		case *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.LetClause:
			return true
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				x, isWord := n.X.(*syntax.Word)
				y, alsoWord := n.Y.(*syntax.Word)
				return !isWord || !alsoWord || !known.number(x) || !known.number(y)
			}
		case *syntax.UnaryTest:
			return n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
		case *syntax.Assign:
			return evaluates(n.Index)
		case *syntax.ArrayElem:
			return evaluates(n.Index)
		}
		return false
	})
}

// assignsDefault reports "${NAME:=word}" and "${NAME=word}".
func assignsDefault(n *syntax.ParamExp) bool {
	return n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
}

// expandsAsPrompt reports "${NAME@P}".
func expandsAsPrompt(n *syntax.ParamExp) bool {
	return n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P"
}

// evaluatesIndex reports "${NAME[index]}" with an index other than a number, "@" or "*".
func evaluatesIndex(n *syntax.ParamExp) bool {
	index, ok := n.Index.(*syntax.Word)
	return n.Index != nil && (!ok || index.Lit() == "" || strings.Trim(index.Lit(), "0123456789@*") != "")
}

// listsKeys reports "${!NAME[@]}" and "${!PREFIX*}", which evaluate no value.
func listsKeys(n *syntax.ParamExp) bool {
	index, ok := n.Index.(*syntax.Word)
	return n.Names != 0 || ok && hasWord("@ *", index.Lit())
}

// confinedReason is the reason for a text that is allowed because of the sandbox.
const confinedReason = "every command only reads, and the sandbox holds it to that"

// classNotReadOnly reports the classes that a read-only sandbox does not make harmless: all but unknown
// words and wrappers.
func classNotReadOnly(class Class) bool { return class != Dynamic && class != Wrapper }

// commandNotReadOnly says why a read-only sandbox does not make a command harmless. Empty: the command
// is on the list of commands that only read, whatever its unknown words turn out to be. found is what
// the list says of the command as it is written.
func (j *judge) commandNotReadOnly(u unwrapped, s simple, found finding, at dirs) string {
	name := s.name()
	switch {
	case u.notReadOnly != "":
		return u.notReadOnly
	case u.textUnknown != "":
		return u.textUnknown
	case nameUnknown(u, s):
		return "the name of the command is only known when it runs"
	case mayStartProgram(u, s):
		return name + " may be given an option that starts a program"
	case machineForms()[name] != nil:
		return name + " shows the machine, most of which a sandbox hides"
	case s.words[0].value == "cd" || found.action == capability.Allow && !u.appends:
		return "" // the text around the command is what asks
	case strings.Contains(name, unknown) || name == "git":
		return s.raw() + " is only known when it runs"
	}
	for _, w := range s.words {
		if !w.static && strings.HasPrefix(w.raw, "~") {
			return w.raw + " lies in a home that is not known"
		}
	}
	for _, words := range withStandIns(s) {
		if u.appends {
			words = append(words, addedName, addedName)
		}
		f, _ := j.listing.listed(&Part{}, newSimple(words, nil, at), at)
		if f.action == capability.Deny {
			return f.reason
		}
		if f.action != capability.Allow && f.notReadOnly != "" {
			return f.notReadOnly
		}
	}
	return ""
}

// withStandIns returns the words of a command with a stand-in for each piece that is not known: a
// number, which is the name of a file as well as what an option may want. In a script of sed, numbers
// may be unknown, and each may also be empty. After a backslash or in brackets that changes what the
// following characters mean, so withStandIns returns every combination.
func withStandIns(s simple) (out [][]word) {
	script := -1
	if s.name() == "sed" {
		script = slices.IndexFunc(s.words, func(w word) bool { return w.number })
	}
	gaps := 0
	if script >= 0 && (strings.Contains(s.words[script].value, "[") || strings.Contains(s.words[script].value, `\`+unknown)) {
		gaps = min(strings.Count(s.words[script].value, unknown), maxGaps)
	}
	for empty := range 1 << gaps { // a bit for each gap
		words := make([]word, len(s.words))
		for i, w := range s.words {
			value := w.value
			for gap := 0; i == script && gap < gaps; gap++ {
				value = strings.Replace(value, unknown, []string{"1", ""}[empty>>gap&1], 1)
			}
			words[i] = word{value: strings.ReplaceAll(value, unknown, "1"), raw: w.raw, static: true}
		}
		out = append(out, words)
	}
	return out
}

// maxGaps bounds how many numbers of a script of sed may be unknown.
const maxGaps = 4

// addedName stands for a name that xargs or find adds to a command. For many names there are two, since
// a second one may be a file that the command writes.
var addedName = knownWord("1")

// raw returns the command as it is written.
func (s simple) raw() string {
	var b strings.Builder
	for i, w := range s.words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.raw)
	}
	return b.String()
}
