package command

import (
	"errors"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
	"acp-agent/internal/shell"
)

// errTooDeep stops the walk of a program that nests deeper than MaxDepth.
var errTooDeep = errors.New("nested too deep")

// Judge returns the verdict on a command text under the policy default-v1. The text
// must be the one that will run, after preprocessing (C7). Judge never fails: it denies a text
// that is too long, too deep or not text, and asks about one that does not parse.
func Judge(text string, env Env) Verdict {
	v, file := judgeFile(text, env)
	if file == nil {
		return v
	}
	v = expanded(v, file, env)
	v = hidingObjects(v, file, env)
	v = movingRevisions(v, env)
	v = changingScripts(v)
	v = withEndOfOptions(v, file, env)
	v.GitHub, v.GitHubAlone, v.GitHubInstead = gitHub(v, file)
	v.GitHubHere, v.GitHubElsewhere = gitHubHere(v.Parts)
	return v
}

// judgeFile judges a text as it is written. It also returns the parsed text, or nil where the
// verdict was reached without one.
func judgeFile(text string, env Env) (v Verdict, file *syntax.File) {
	if err := shell.CheckText(text); err != nil {
		return whole(text, denies(Limits, "the command cannot be run safely: "+err.Error())), nil
	}
	if nesting(text) > 4*MaxDepth {
		return whole(text, denies(Limits, "the command nests too deep to be judged")), nil
	}
	file, err := shell.Parse(text, env.Dialect)
	switch {
	case errors.Is(err, shell.ErrDoubtful):
		return whole(text, ambiguous(err)), nil
	case err != nil:
		return whole(text, asks(Unparsed, "the command could not be parsed: "+err.Error())), nil
	}
	j := newJudge(text, newPaths(env), map[string]bool{})
	j.words.numbers = numbersOf(file)
	j.stmts(file.Stmts, j.start(), finding{})
	if j.err != nil {
		return whole(text, denies(Limits, "the command nests too deep to be judged")), nil
	}
	v = j.parts.verdict()
	if f := expansionsIn(file); f.set {
		if v.Action == capability.Allow {
			j.parts.raiseFrom(0, f)
		}
		v = j.parts.verdict()
	}
	// A text that the two readers take apart differently is never allowed, and is asked about even
	// where a rule allows what the parser found.
	if err := shell.Confirm(text, file, env.Dialect, env.Encoding); shell.Differs(err) || err != nil && v.Action == capability.Allow {
		j.parts.doubt(ambiguous(err))
		v = j.parts.verdict()
	}
	return onMachine(v, file, env), file
}

// ambiguous asks about a text that the parser and the shell may read differently. No rule lifts
// the question, since no one knows what the text runs.
func ambiguous(err error) finding {
	f := asks(Ambiguous, "the shell may read this command differently: "+err.Error())
	f.validation = true
	return f
}

// whole returns the verdict on a text that was not parsed.
func whole(text string, f finding) Verdict {
	p := Part{Text: text}
	p.set(f)
	v := Verdict{Text: text, Action: f.action, Class: f.class, Reason: f.reason, Parts: []Part{p}, Validation: f.validation}
	if f.action == capability.Ask {
		v.ToAllow = []string{text, text, "*"}
	}
	return v
}

// nesting returns a cheap upper bound of how deep brackets and substitutions nest. The parser is
// recursive, and a text that nests too deep could exhaust its stack.
func nesting(text string) int {
	depth, most := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return most
}

// judge walks the syntax tree of a text and judges each command and redirection in it.
type judge struct {
	*paths
	words   evaluator
	denial  denial
	listing listing
	parts   parts
	depth   int
	err     error
}

// newJudge returns a judge of a text. fetched holds the files that earlier commands downloaded.
func newJudge(text string, paths *paths, fetched map[string]bool) *judge {
	return &judge{
		paths:   paths,
		words:   evaluator{text: text, home: paths.env.Home},
		denial:  denial{paths, fetched},
		listing: listing{paths: paths, text: text},
		parts:   parts{text: text},
	}
}
