package command

import (
	"regexp"
	"strings"
	"sync"

	"acp-agent/capability"
)

// jqPath selects a member, with nothing in the brackets that jq would evaluate. awkRegexp is a regular
// expression of text, anchors, dots and stars, and of escaped special characters.
const (
	jqPath    = `\.([A-Za-z_][A-Za-z0-9_]*|"[A-Za-z0-9_ /@-]*"|\[\d*\]|\.)*`
	awkRegexp = `(` + plainChar + `|\\[()*.{}+?^$|])*`
	plainChar = `[A-Za-z0-9_ .,:;^$*=(){}"'<>@#%+-]`
)

// The scripts of sed, awk and jq that only read: they print lines, fields and members, and nothing
// else. Those of sed may replace text, without the flags that write a file or run a command.
var (
	sedPrints = sync.OnceValue(func() *regexp.Regexp {
		commands := []string{"p", "d", "q", "="}
		for _, separator := range []string{"/", "|", ",", "#"} {
			sep := regexp.QuoteMeta(separator)
			commands = append(commands, `s`+sep+sedPattern(sep)+sep+`([^`+sep+`\\\n]|\\[^\n])*`+sep+`[gIip0-9]*`)
		}
		line := `(\d+(~\d+)?|\$|/` + sedPattern("/") + `/I?)`
		one := `(` + line + `(, ?(` + line + `|\+\d+))? ?!?)? ?(` + strings.Join(commands, "|") + `)`
		return regexp.MustCompile(`^` + one + `( ?[;\n] ?` + one + `)*;?$`)
	})
	awkPrints = sync.OnceValue(func() *regexp.Regexp {
		const (
			re    = `/` + awkRegexp + `/`
			one   = `(NR ?(==|<=|>=|<|>) ?\d+|` + re + `)`
			lines = `(` + one + `( ?&& ?` + one + `)*|` + re + `, ?` + re + `)`
			print = `\{ ?print( ?\$(\d+|NF)(,? ?\$(\d+|NF))*)? ?\}`
		)
		return regexp.MustCompile(`^((` + lines + ` ?)?` + print + `|` + lines + `|END ?\{ ?print NR ?\})$`)
	})
	jqSelects = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^` + jqPath + `( ?\| ?(keys|length|type|` + jqPath + `))*$`)
	})
)

// sedPattern matches a regular expression of sed up to a separator. To some seds a separator in a
// bracket expression belongs to the expression, to others it ends it, so none may stand there. A "]"
// right after the opening bracket is a member.
func sedPattern(sep string) string {
	const class = `\[:[a-z]+:\]`
	member, first := `([^`+sep+`\]\\\n\[]|`+class+`)`, `([^`+sep+`\]\\\n\[^]|`+class+`)`
	return `([^` + sep + `\\\n\[]|\\[^\n]|\[(\^(\]|` + member + `)|\]|` + first + `)` + member + `*\])*`
}

// jqBeyond finds what lets a filter of jq see more than its input: the environment, modules and the
// names of files. Jq has no other way to do that, and starts no programs.
var jqBeyond = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(env|import|include|modulemeta|search_list|input_filename|__prog|__loc)`)
})

// printfFormat accepts the formats that only print. It leaves out %n, which sets a variable, "*",
// which takes a width from an operand, and %(…)T, which takes a format of the time.
var printfFormat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^%\\]|\\[\\"'abefnrtv0-7]|%[-0 +#]*[0-9]*(\.[0-9]+)?[sdiuxXobqcf%])*$`)
})

func checkPrintf(_ *listing, _ *Part, p parsed, _ dirs) finding {
	if len(p.operands) == 0 || !printfFormat().MatchString(p.operands[0].value) {
		return asks(Unlisted, "the format of printf is not one that is known to print only")
	}
	return finding{}
}

func checkSed(l *listing, part *Part, p parsed, at dirs) finding {
	if len(p.operands) == 0 || !sedPrints().MatchString(p.operands[0].value) {
		return asks(Interpreter, "only sed scripts that print lines and replace text are known to read only")
	}
	return l.scriptFiles(part, p, at)
}

func checkAwk(l *listing, part *Part, p parsed, at dirs) finding {
	var f finding
	switch {
	case len(p.operands) == 0 || !awkReads(p.operands[0].value) || !awkVariables(p.seen["-v"]):
		return asks(Interpreter, "only awk scripts that calculate and print are known to read only")
	case !awkPrints().MatchString(p.operands[0].value) || p.has("-v"):
		f = asksUnlessReadOnly(Interpreter, "how long the awk script takes is not known before it runs")
	}
	for _, w := range p.operands[1:] {
		if strings.Contains(w.value, "=") {
			return asks(Unlisted, "an operand of awk sets a variable")
		}
	}
	return f.worse(l.scriptFiles(part, p, at))
}

func checkJQ(l *listing, part *Part, p parsed, at dirs) finding {
	var f finding
	filter, files, ok := l.jqFilter(p, at)
	part.scriptFile = p.has("-f", "--from-file")
	switch {
	case !ok:
		return asks(Interpreter, "the filter of jq is not known before it runs")
	case jqBeyond().MatchString(filter):
		return asks(Interpreter, "only jq filters that look at nothing but their input are known to read only")
	case !jqSelects().MatchString(filter):
		f = asksUnlessReadOnly(Interpreter, "how long the jq filter takes is not known before it runs")
	}
	return f.worse(jqRepeats(filter)).worse(l.files(part, files, at))
}

// jqFilter returns the filter of a jq command, and the files that it reads. A file of the filter has to come
// before any other operand: with -f, versions of jq before 1.8 take the first operand for that file,
// and options that stand together for options.
func (l *listing) jqFilter(p parsed, at dirs) (filter string, files []word, ok bool) {
	if !p.has("-f", "--from-file") {
		if len(p.operands) == 0 {
			return "", nil, false
		}
		return p.operands[0].value, p.operands[1:], true
	}
	if len(p.files) != 1 || strings.HasPrefix(p.files[0].value, "-") || len(p.late) > 0 || l.env.Script == nil {
		return "", nil, false
	}
	names, known := at.join(p.files[0].value)
	if f := l.judgePath(&Part{}, p.files[0], at, true); !known || len(names) != 1 || f.notAllowed() {
		return "", nil, false
	}
	filter, ok = l.env.Script(names[0])
	return filter, p.operands, ok
}

// changingScripts asks about a command that is allowed for its script in a file, in a text with another command that is
// not known to only read: it may change that file first.
func changingScripts(v Verdict) Verdict {
	if v.Action == capability.Allow || len(v.Parts) < 2 {
		return v
	}
	for i := range v.Parts {
		if v.Parts[i].scriptFile {
			v.Parts[i].raise(asks(Interpreter, "another command of the text may change the file of its script"))
		}
	}
	return v
}

// jqRepeats asks about a filter that goes through all of the input for each part of it.
func jqRepeats(filter string) finding {
	if strings.Count(filter, "..") > 1 {
		return asks(Endless, "the filter goes through all of the input for each part of it")
	}
	return finding{}
}

// scriptFiles judges the files after a script.
func (l *listing) scriptFiles(part *Part, p parsed, at dirs) finding {
	return l.files(part, p.operands[1:], at)
}

// files judges files that a command reads; "-" is its input.
func (l *listing) files(part *Part, files []word, at dirs) finding {
	var f finding
	for _, w := range files {
		if w.value != "-" {
			f = f.worse(l.judgePath(part, w, at, true))
		}
	}
	return f
}
