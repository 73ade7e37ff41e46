package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
)

// leftToReading allows a text of which not all is known before it runs, where every command in
// it is on the list of what only reads, and a sandbox holds it to that: what its words come to
// can make it read another file, and nothing else. Nothing that was asked about for another
// reason is allowed.
func leftToReading(v Verdict, file *syntax.File, env Env) Verdict {
	if v.Action != capability.Ask || v.Validation || env.Reading == nil || setsHeeded(file) {
		return v
	}
	for _, p := range v.Parts {
		if p.Action != capability.Allow && (p.Action != capability.Ask || p.notReading != "") {
			return v
		}
	}
	if holdsAddress(env) || !env.Reading() {
		return v
	}
	for i := range v.Parts {
		v.Parts[i].judge(finding{action: capability.Allow, class: ReadOnly, reason: heldReason, set: true})
	}
	v.Action, v.Class, v.Reason, v.ToAllow = capability.Allow, ReadOnly, heldReason, nil
	return v
}

// holdsAddress reports that git keeps a user and password in the directories of a session, which the
// sandbox does not hide: a word that is not known may name the file.
func holdsAddress(env Env) bool {
	return env.GitHoldsAddress != nil && slices.ContainsFunc(append([]string{env.Cwd}, env.Roots...), env.GitHoldsAddress)
}

// setsHeeded reports a program that sets a variable that programs heed, or one that is only known
// when it runs, by whatever form, or that reckons, where the value of a variable may be a program.
func setsHeeded(file *syntax.File) bool {
	found, known := false, numbersOf(file)
	heeded := func(name *syntax.Lit) bool { return name == nil || !variable(name.Value) }
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.WordIter:
			found = found || heeded(n.Name)
		case *syntax.ParamExp:
			assigns := n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
			found = found || assigns && heeded(n.Param)
			prompts := n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P"
			found = found || n.Slice != nil || prompts || n.Excl && !listsKeys(n) // which runs the substitutions in a value
			if index, ok := n.Index.(*syntax.Word); n.Index != nil {
				found = found || !ok || strings.Trim(index.Lit(), "0123456789@*") != "" || index.Lit() == ""
			}
		case *syntax.ArithmExp:
			found = found || !known.calculates(n.X) // the shell runs the substitutions in the values of variables there
		case *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.LetClause:
			found = true
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				x, isWord := n.X.(*syntax.Word)
				y, alsoWord := n.Y.(*syntax.Word)
				found = found || !isWord || !alsoWord || !known.number(x) || !known.number(y)
			}
		case *syntax.UnaryTest:
			found = found || n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
		case *syntax.Assign:
			index, ok := n.Index.(*syntax.Word)
			found = found || n.Index != nil && (!ok || !digits(index.Lit()))
		case *syntax.ArrayElem:
			index, ok := n.Index.(*syntax.Word)
			found = found || n.Index != nil && (!ok || !digits(index.Lit()))
		case *syntax.DeclClause:
			for _, a := range n.Args {
				option := ""
				if a.Value != nil {
					option = a.Value.Lit()
				}
				found = found || a.Name == nil && (!strings.HasPrefix(option, "-") || strings.ContainsAny(option, "ni")) || a.Name != nil && !variable(a.Name.Value)
			}
		}
		return !found
	})
	return found
}

// listsKeys reports "${!NAME[@]}" and "${!PREFIX*}", which look into no value.
func listsKeys(n *syntax.ParamExp) bool {
	index, ok := n.Index.(*syntax.Word)
	return n.Names != 0 || ok && hasWord("@ *", index.Lit())
}

// heldReason is why a text is allowed that its words alone do not show to only read.
const heldReason = "every command only reads, and the sandbox holds it to that"

// classNotReading reports the classes of what is not left to a sandbox for reading: all but words
// that are only known when the command runs, and wrappers.
func classNotReading(class Class) bool { return class != Dynamic && class != Wrapper }

// commandNotReading says why a command is not left to a sandbox for reading; empty means that it
// is on the list of what only reads, whatever its words come to. found is what the list says of
// it as it is.
func (j *judge) commandNotReading(written []word, u unwrapped, s simple, found finding, at dirs) string {
	name := s.name()
	switch {
	case u.wrapped && !hasWord("time timeout nice xargs command", path.Base(written[0].value)):
		return path.Base(written[0].value) + " may change what runs"
	case u.text != "":
		return u.text
	case nameUnknown(u, s):
		return "the name of the command is only known when it runs"
	case mayStart(u, s):
		return name + " may be given an option that starts a program"
	case machineForms()[name] != nil:
		return name + " shows the machine, most of which a sandbox hides"
	case name == "cd" || found.action == capability.Allow && !u.appends:
		return "" // it is the text around it that is asked about
	case strings.Contains(name, unknown) || name == "git":
		return s.raw() + " is only known when it runs"
	}
	for _, w := range s.words {
		if !w.static && strings.HasPrefix(w.raw, "~") {
			return w.raw + " lies in a home that is not known"
		}
	}
	for _, settled := range settlements(s) {
		if u.appends {
			settled = append(settled, appended, appended)
		}
		f, _, _ := j.listing.listed(&Part{}, newSimple(settled, nil, at), at)
		if f.action == capability.Deny {
			return f.reason
		}
		if f.action != capability.Allow && f.notReading != "" {
			return f.notReading
		}
	}
	return ""
}

// settlements are the words of a command with what is not known in them written out. A number is a name of
// a file as well as what an option may want. In a script of sed, of which numbers need not be known, each
// of them may also come to nothing: after a backslash or in brackets, what follows means something else then.
func settlements(s simple) (out [][]word) {
	script := -1
	if s.name() == "sed" {
		script = slices.IndexFunc(s.words, func(w word) bool { return w.number })
	}
	gaps := 0
	if script >= 0 && (strings.Contains(s.words[script].value, "[") || strings.Contains(s.words[script].value, `\`+unknown)) {
		gaps = min(strings.Count(s.words[script].value, unknown), maxGaps)
	}
	for empty := range 1 << gaps {
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

// maxGaps bounds the numbers of a script of sed that need not be known.
const maxGaps = 4

// appended stands for a name that xargs or find adds to a command: of many, there are two. A second
// one may be a file that is written.
var appended = word{value: "1", raw: "1", static: true}

// raw is the command as it was written.
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
