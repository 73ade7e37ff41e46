package textcalls

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Call is a call that was written as text.
type Call struct {
	Name string
	// Arguments is a JSON object.
	Arguments string
}

// starts are how written calls begin, after the marks of a family were taken out of
// the tags.
var starts = []string{"<tool_call>", "<function=", "[TOOL_CALLS]", "<function_calls>", "<tool_calls>", "<invoke "}

// familyTag matches what families put around the names of their tags: DeepSeek's DSML,
// MiniMax's and Anthropic's prefixes.
var familyTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<(/?)[ \t]*(?:[|｜‖]+[ \t]*DSML[ \t]*[|｜‖]+[ \t]*|antml:|minimax:)`)
})

// parse splits a text that ends with written calls, and with nothing after them, into what
// stands before them and the calls. Without any, ok is false. cut is the end of the text
// that this one continues, see opening.
func parse(text, cut string) (before string, calls []Call, ok bool) {
	plain := familyTag().ReplaceAllString(text, "<$1")
	found := placesAfter(cut, plain)
	for _, at := range found[max(0, len(found)-maxPlaces):] {
		calls, err := parseAll(plain[at:])
		switch {
		case errors.Is(err, errOpen):
			return "", nil, false // what follows is a part of an argument
		case err == nil && len(calls) > 0:
			return strings.TrimRight(beforeCall(text, plain, at), " \t\r\n"), calls, true
		}
	}
	return "", nil, false
}

// beforeCall is the text before a place of the plain text: up to it both are the same
// but for tags, of which those before the first call are left in plain.
func beforeCall(text, plain string, at int) string {
	if strings.HasPrefix(text, plain[:at]) {
		return text[:at]
	}
	return plain[:at]
}

// placesAfter are the places of a text that goes on where another one was cut.
func placesAfter(cut, text string) []int {
	found, _ := places(cut + text)
	for i := range found {
		found[i] -= len(cut)
	}
	return slices.DeleteFunc(found, func(at int) bool { return at < 0 })
}

// places are where written calls may begin: outside of code and of quotations. open is the
// fence in which the last line stands.
func places(text string) (found []int, open string) {
	fence := ""
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], '\n')
		if end < 0 {
			end = len(text) - start
		} else {
			end++
		}
		line := text[start : start+end]
		trimmed := strings.TrimLeft(line, " \t")
		opened := fenceOf(trimmed)
		open = fence
		switch {
		case fence != "":
			if closes(trimmed, fence) {
				fence = ""
			}
		case opened != "":
			fence = opened
		case strings.HasPrefix(trimmed, ">"), strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
		default:
			found = append(found, inLine(line, start)...)
		}
		start += end
	}
	return found, open
}

// listItem matches what a line begins with that is an item of a list; a fence may stand
// after it.
var listItem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)+`)
})

// fenceOf is the fence that a line opens, "" when it opens none
// (spec.commonmark.org/0.31.2/#fenced-code-blocks).
func fenceOf(line string) string {
	line = line[len(listItem().FindString(line)):]
	for _, mark := range []string{"`", "~"} {
		info := strings.TrimLeft(line, mark)
		fence := line[:len(line)-len(info)]
		if len(fence) >= 3 && (mark == "~" || !strings.Contains(info, mark)) {
			return fence
		}
	}
	return ""
}

// closes reports whether a line ends a fence: with as many of its marks or more, and
// nothing else.
func closes(line, fence string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(strings.TrimRight(line, " \t\r\n"), fence[:1]) == ""
}

// inLine are the places of a line that stand neither in code nor in quotation marks.
func inLine(line string, offset int) []int {
	var found []int
	var before lead
	for i := 0; i < len(line); i += before.pass(line[i:]) {
		if !before.quotes() && slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(line[i:], start) }) {
			found = append(found, offset+i)
		}
	}
	return found
}

// lead is what stands in a line before a place, as far as it says whether that is quoted.
type lead struct {
	// code is the number of backticks that code began with, which ends with as many.
	code int
	// quote is the typographic mark that a quotation began with.
	quote  rune
	double bool // a plain quotation has started
	last   rune
}

// pass goes over what a part of a line begins with, and returns how long that is.
func (l *lead) pass(line string) int {
	r, size := utf8.DecodeRuneInString(line)
	l.last = r
	switch r {
	case '`':
		size = len(line) - len(strings.TrimLeft(line, "`"))
		switch l.code {
		case 0:
			l.code = size
		case size:
			l.code = 0
		}
	case '"':
		l.double = !l.double
	case '„':
		l.quote = r
	case '“': // it ends a German quotation
		if l.quote == '„' {
			r = 0
		}
		l.quote = r
	case '”':
		l.quote = 0
	}
	return size
}

// quotes reports whether what comes next stands in code or in quotation marks. A single
// mark counts right after it only, since it may be an apostrophe.
func (l *lead) quotes() bool { return l.code > 0 || l.double || l.quote != 0 || l.last == '\'' }

var (
	errNone = errors.New("not a written call")
	// errOpen is a call that ends within an argument.
	errOpen = errors.New("a written call that has no end")
)

const (
	// maxCalls bounds the calls of one answer, maxPlaces where their beginning is looked
	// for, and maxDepth how deep wrappers may stand in each other.
	maxCalls  = 64
	maxPlaces = 4 * maxCalls
	maxDepth  = 4
)

// parseAll reads calls up to the end of the text.
func parseAll(text string) (calls []Call, err error) {
	p := &parser{rest: text}
	for p.skip(); p.rest != ""; p.skip() {
		if len(p.calls) >= maxCalls {
			return nil, errNone
		}
		if err := p.element(); err != nil {
			return nil, err
		}
	}
	return p.calls, nil
}

type parser struct {
	rest  string
	calls []Call
	depth int
}

// endings are what templates put after a call, and leave in the text.
var endings = []string{"<|im_end|>", "<|eot_id|>", "</s>", "<|end|>", "<|eom_id|>", "<｜end▁of▁sentence｜>"}

// skip passes over space, and over marks of the template at the end.
func (p *parser) skip() {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n")
		cut := p.rest
		for _, ending := range endings {
			cut = strings.TrimPrefix(cut, ending)
		}
		if cut == p.rest {
			return
		}
		p.rest = cut
	}
}

func (p *parser) accept(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *parser) add(name, arguments string) error {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 100 || strings.ContainsAny(name, " \t\r\n<>{}\"") {
		return errNone
	}
	if arguments = strings.TrimSpace(arguments); arguments == "" {
		arguments = "{}"
	}
	if !strings.HasPrefix(arguments, "{") || !json.Valid([]byte(arguments)) {
		return errNone
	}
	p.calls = append(p.calls, Call{name, arguments})
	return nil
}

// element reads one call, or a wrapper with several.
func (p *parser) element() error {
	switch {
	case p.accept("<tool_call>"):
		return p.within("</tool_call>")
	case p.accept("<function_calls>"):
		return p.within("</function_calls>")
	case p.accept("<tool_calls>"):
		return p.within("</tool_calls>")
	case strings.HasPrefix(p.rest, "<function="):
		return p.function()
	case strings.HasPrefix(p.rest, "<invoke "):
		return p.invoke()
	case p.accept("[TOOL_CALLS]"):
		return p.mistral()
	}
	return errNone
}

// within reads what a wrapper holds: elements, or the JSON of a call. The closing tag
// may be missing at the very end, where some servers swallow it.
func (p *parser) within(closing string) error {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return errNone
	}
	for found := 0; ; found++ {
		p.skip()
		switch {
		case p.accept(closing), p.rest == "" && found > 0:
			if found == 0 {
				return errNone
			}
			return nil
		case len(p.calls) >= maxCalls:
			return errNone
		}
		var err error
		switch p.rest[:min(1, len(p.rest))] {
		case "{":
			err = p.object()
		case "<":
			err = p.element()
		case "":
			err = errNone
		default:
			err = p.keyed(closing)
		}
		if err != nil {
			return err
		}
	}
}

// object reads {"name": ..., "arguments": {...}}.
func (p *parser) object() error {
	decoder := json.NewDecoder(strings.NewReader(p.rest))
	var call struct {
		Name, Tool string
		Function   json.RawMessage
		Arguments  json.RawMessage
		Parameters json.RawMessage
	}
	switch err := decoder.Decode(&call); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errOpen
	case err != nil:
		return errNone
	}
	p.rest = p.rest[decoder.InputOffset():]
	name := call.Name
	if name == "" {
		name = call.Tool
	}
	if name == "" {
		_ = json.Unmarshal(call.Function, &name) // another shape has no name here
	}
	arguments := call.Arguments
	if arguments == nil {
		arguments = call.Parameters
	}
	var text string
	if json.Unmarshal(arguments, &text) == nil {
		arguments = json.RawMessage(text)
	}
	return p.add(name, string(arguments))
}
