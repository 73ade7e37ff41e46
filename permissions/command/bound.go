package command

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Bounds of the time and the output of a command that only reads. The command must show by its words
// that it keeps them.
const (
	maxStages    = 64 // of a pipeline
	maxLengthens = 3  // stages of a pipeline that print more than they read
	maxPrints    = 32 // how often a script of sed or awk prints one line
	maxNumbers   = 1_000_000
	maxPiece     = 1000     // bytes of a word that is printed for every line
	maxPrinted   = 10 << 20 // bytes of a format of printf, times its operands
	maxSleep     = 60       // seconds
	maxRepeats   = 10_000   // the product of the counts of a regular expression
)

// wideFormat finds a width or precision of four digits or more in a format of printf, strftime, find or
// stat. The output is that wide.
var wideFormat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%[^A-Za-z%]*[0-9]{4}`)
})

// widths lists the options whose value is the width of a line or a number of threads, by program.
var widths = map[string]string{
	"nl": "-w --number-width", "diff": "-W --width", "ls": "--width", "rg": "-j --threads",
}

// unbounded asks about a command that runs without end, or prints too much, by its own numbers.
func unbounded(s simple, p parsed) finding {
	f := func(what string) finding { return asks(Endless, what) }
	for name, value := range p.seen {
		if hasWord(widths[s.name()], name) && !threeDigits(value) {
			return f("a width or a number of threads is too large for what only reads")
		}
	}
	formats := hasWord("printf seq date stat find ls git awk", s.name())
	pieces := hasWord("seq stat find nl cut rg", s.name())
	patterns := hasWord("grep egrep fgrep rg sed awk find git nl", s.name())
	for _, w := range s.args() {
		switch {
		case formats && wideFormat().MatchString(w.value):
			return f("a format asks for more than 999 characters at once")
		case pieces && len(w.value) > maxPiece:
			return f("a text that is printed for every line is too long")
		case patterns && repeats(w.value) > maxRepeats:
			return f("a pattern repeats its parts too often")
		}
	}
	switch {
	case s.name() == "printf" && len(p.operands) > 0 && len(p.operands[0].value)*len(p.operands) > maxPrinted:
		return f("the format is printed too often")
	case s.name() == "seq" && !shortSequence(p.operands):
		return f("the sequence has no end, or one that is too far")
	case hasWord("sed awk", s.name()) && timesPrinted(s) > maxPrints:
		return f("the script prints each line too often")
	}
	return finding{}
}

// threeDigits accepts numbers of up to three digits, one on each line.
func threeDigits(value string) bool {
	for line := range strings.SplitSeq(value, "\n") {
		if len(line) > 3 || strings.Trim(line, "0123456789") != "" {
			return false
		}
	}
	return true
}

// counts finds the repetitions of a regular expression: {n}, {n,} and {n,m}.
var counts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{,?([0-9]+)(?:,([0-9]*))?\\?\}`)
})

// repeats returns the product of the counts of a regular expression if one may be inside another, and
// otherwise their sum.
func repeats(pattern string) int {
	if !strings.Contains(pattern, "{") {
		return 1
	}
	nested := countedGroup().MatchString(pattern)
	product := 1
	for _, m := range counts().FindAllStringSubmatch(pattern, -1) {
		most := 1
		for _, digits := range m[1:] {
			n, err := strconv.Atoi(digits)
			if err != nil && digits != "" {
				return maxRepeats + 1
			}
			most = max(most, n)
		}
		if !nested {
			product += most
		} else {
			product *= most
		}
		if product > maxRepeats {
			return product
		}
	}
	return product
}

// countedGroup finds a count after a group, or after another count.
var countedGroup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[)}]\\?\{`)
})

// plainNumber matches a number without an exponent.
var plainNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[-+]?([0-9]{1,9}(\.[0-9]{0,6})?|\.[0-9]{1,6})$`)
})

// shortSequence reports a seq that prints at most maxNumbers numbers.
func shortSequence(operands []word) bool {
	numbers := []float64{1, 1, 0} // first, step, last
	if len(operands) == 0 || len(operands) > 3 {
		return false
	}
	for i, w := range operands {
		n, err := strconv.ParseFloat(w.value, 64)
		if err != nil || !plainNumber().MatchString(w.value) {
			return false
		}
		switch {
		case i == len(operands)-1:
			numbers[2] = n
		case i == 0:
			numbers[0] = n
		default:
			numbers[1] = n
		}
	}
	first, step, last := numbers[0], numbers[1], numbers[2]
	return step != 0 && (last-first)/step <= maxNumbers
}

// timesPrinted returns how often a script of sed or awk may print one line, or a part of it.
func timesPrinted(s simple) int {
	count := 0
	for _, w := range s.args() {
		count = max(count, strings.Count(w.value, "p"), strings.Count(w.value, "$"))
	}
	return count
}

// lengthens reports a command whose output may be several times as long as its input. In a pipeline the
// factors multiply.
func lengthens(s simple) bool {
	switch s.name() {
	case "od", "nl", "fold":
		return true
	case "sed", "awk":
		return timesPrinted(s) > 1
	case "rg":
		return slices.ContainsFunc(s.args(), func(w word) bool {
			return w.value == "--json" || strings.HasPrefix(w.value, "-r") || strings.HasPrefix(w.value, "--replace")
		})
	}
	return false
}

// unboundedPipeline asks about a pipeline that is too long to end in time.
func unboundedPipeline(stages int, ran []simple) finding {
	longer := 0
	for _, s := range ran {
		if lengthens(s) {
			longer++
		}
	}
	if stages > maxStages || longer > maxLengthens {
		return asks(Endless, "the pipeline has too many stages, or too many that make more of what they read")
	}
	return finding{}
}
