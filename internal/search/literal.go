package search

import (
	"math"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLiterals bounds how many alternatives a required set may have.
const maxLiterals = 48

// literals is a set of strings of which every match contains at least one.
type literals struct {
	set   []string // lower case where fold is set
	fold  bool     // ASCII letters compare without case
	exact bool     // every line that contains one of set is a match
}

// requiredLiterals derives the cheapest set to look for from a parsed
// expression. A nil set means that there is nothing to look for.
func requiredLiterals(re *syntax.Regexp) literals {
	x := extractor{fold: usesFold(re)}
	got := x.walk(re)
	set, exact := got.best, false
	if got.exact != nil {
		exact = !got.guarded && !x.loose
		set = cheaper(got.exact, got.best, x.fold)
		exact = exact && set != nil && &set[0] == &got.exact[0]
	}
	return literals{set: set, fold: x.fold, exact: exact}
}

// An extractor walks an expression and keeps, per node, what it must contain.
type extractor struct {
	fold  bool
	loose bool // some leaf is stricter about case than the folded literals
}

// info is what is known about the texts one node matches.
type info struct {
	exact   []string // nil: unknown; otherwise all texts, possibly ""
	guarded bool     // exact holds only under an assertion such as ^ or \b
	best    []string // a required set, nil: none
}

func (x *extractor) walk(re *syntax.Regexp) info {
	switch re.Op {
	case syntax.OpLiteral:
		return x.literal(re)
	case syntax.OpCharClass:
		return x.class(re)
	case syntax.OpEmptyMatch:
		return info{exact: []string{""}}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return info{exact: []string{""}, guarded: true}
	case syntax.OpCapture:
		return x.walk(re.Sub[0])
	case syntax.OpPlus:
		return x.required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min == 0 {
			return info{}
		}
		return x.required(re.Sub[0])
	case syntax.OpQuest:
		sub := x.walk(re.Sub[0])
		if sub.exact == nil || len(sub.exact) >= maxLiterals {
			return info{}
		}
		return info{exact: union(sub.exact, []string{""}), guarded: sub.guarded}
	case syntax.OpAlternate:
		return x.alternate(re.Sub)
	case syntax.OpConcat:
		return x.concat(re.Sub)
	}
	return info{}
}

// required is for nodes that occur at least once, with unknown surroundings.
func (x *extractor) required(re *syntax.Regexp) info {
	sub := x.walk(re)
	return info{best: cheaper(sub.exact, sub.best, x.fold)}
}

func (x *extractor) literal(re *syntax.Regexp) info {
	if slices.Contains(re.Rune, utf8.RuneError) {
		return info{} // it matches any invalid byte too
	}
	if !x.fold {
		return info{exact: []string{string(re.Rune)}}
	}
	folded := re.Flags&syntax.FoldCase != 0
	parts := strings.FieldsFunc(string(re.Rune), func(r rune) bool { return folded && r >= utf8.RuneSelf })
	for i, p := range parts {
		parts[i] = asciiLower(p)
		x.loose = x.loose || !folded && parts[i] != strings.ToUpper(parts[i])
	}
	switch {
	case len(parts) == 0:
		return info{}
	case !folded || len(parts) == 1 && len(parts[0]) == len(string(re.Rune)):
		return info{exact: []string{asciiLower(string(re.Rune))}}
	}
	var best []string
	for _, p := range parts {
		best = cheaper(best, []string{p}, x.fold)
	}
	return info{best: best}
}

func (x *extractor) class(re *syntax.Regexp) info {
	var set []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(set) >= 12 || x.fold && r >= utf8.RuneSelf || r == utf8.RuneError {
				return info{}
			}
			s := string(r)
			if x.fold {
				x.loose = true
				s = asciiLower(s)
			}
			set = append(set, s)
		}
	}
	return info{exact: distinct(set)}
}

func (x *extractor) alternate(subs []*syntax.Regexp) info {
	out := info{exact: []string{}, best: []string{}}
	for _, sub := range subs {
		got := x.walk(sub)
		if out.best != nil {
			out.best = union(out.best, cheaper(got.exact, got.best, x.fold))
			if cheaper(got.exact, got.best, x.fold) == nil || len(out.best) > maxLiterals {
				out.best = nil
			}
		}
		if out.exact != nil {
			if got.exact == nil || len(out.exact)+len(got.exact) > maxLiterals {
				out.exact = nil
			} else {
				out.exact = union(out.exact, got.exact)
				out.guarded = out.guarded || got.guarded
			}
		}
	}
	if len(out.exact) == 0 {
		out.exact = nil
	}
	if len(out.best) == 0 {
		out.best = nil
	}
	return out
}

func (x *extractor) concat(subs []*syntax.Regexp) info {
	out := info{exact: []string{""}}
	run := []string{""} // what the nodes since the last unknown one spell
	for _, sub := range subs {
		got := x.walk(sub)
		out.guarded = out.guarded || got.guarded
		out.best = cheaper(out.best, got.best, x.fold)
		if got.exact == nil || len(run)*len(got.exact) > maxLiterals {
			out.exact = nil
			out.best = cheaper(out.best, run, x.fold)
			run = []string{""}
			if got.exact != nil {
				run = got.exact
			}
			continue
		}
		run = cross(run, got.exact)
	}
	if out.exact != nil {
		out.exact = run
		return out
	}
	out.best = cheaper(out.best, run, x.fold)
	return out
}

// cheaper is whichever set costs less to look for; a set with an empty string
// cannot be looked for.
func cheaper(a, b []string, fold bool) []string {
	ca, cb := scanCost(a, fold), scanCost(b, fold)
	switch {
	case math.IsInf(ca, 1) && math.IsInf(cb, 1):
		return nil
	case ca <= cb:
		return a
	}
	return b
}

func cross(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return distinct(out)
}

func union(a, b []string) []string { return distinct(slices.Concat(a, b)) }

func distinct(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

func usesFold(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		return true
	}
	return slices.ContainsFunc(re.Sub, usesFold)
}

func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
