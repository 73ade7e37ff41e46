package mcp

import (
	"fmt"
	"strings"
	"unicode"

	"acp-agent/tools"
)

// fill gives the arguments of a prompt their values out of what was typed behind its
// command. A word is the value of the next argument that has none; it may stand in quotes,
// or have the name of an argument before it, as in name=value. The last argument that has
// none takes all that is left. An argument without a value is not among the values; the
// error says in words for a person what is missing or too much, and how to type it.
func (p *Prompt) fill(typed string) (map[string]string, error) {
	values := map[string]string{}
	rest := strings.TrimSpace(typed)
	for rest != "" {
		open := p.open(values)
		if len(open) == 0 {
			return nil, p.misused(nil, rest)
		}
		argument, text := open[0], rest
		for _, a := range open {
			if value, ok := strings.CutPrefix(rest, a.Name+"="); ok {
				argument, text = a, value
				break
			}
		}
		word, behind := firstWord(text)
		if len(open) == 1 && behind != "" {
			word, behind = strings.TrimSpace(text), ""
		}
		values[argument.Name], rest = word, behind
	}
	var missing []Argument
	for _, a := range p.Arguments {
		if values[a.Name] != "" {
			continue
		}
		delete(values, a.Name)
		if a.Required {
			missing = append(missing, a)
		}
	}
	if len(missing) > 0 {
		return nil, p.misused(missing, "")
	}
	return values, nil
}

// open are the arguments that have not been given a value.
func (p *Prompt) open(values map[string]string) (list []Argument) {
	for _, a := range p.Arguments {
		if _, given := values[a.Name]; !given {
			list = append(list, a)
		}
	}
	return list
}

// firstWord takes the first word off a text that does not begin with a blank, unless it is
// empty. A quotation mark counts where a word begins, if there is another one where a word
// ends; any other is a character like all.
func firstWord(text string) (word, rest string) {
	for _, quote := range []string{`"`, `'`} {
		quoted, ok := strings.CutPrefix(text, quote)
		for at := 0; ok; {
			end := strings.Index(quoted[at:], quote)
			if end < 0 {
				break
			}
			at += end + 1
			behind := strings.TrimLeftFunc(quoted[at:], unicode.IsSpace)
			if behind == "" || len(behind) < len(quoted)-at {
				return quoted[:at-1], behind
			}
		}
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeftFunc(text[end:], unicode.IsSpace)
}

// misused is the error of a command that was typed with too little or too much.
func (p *Prompt) misused(missing []Argument, left string) error {
	var b strings.Builder
	switch {
	case len(missing) > 0:
		var names []string
		for _, a := range missing {
			names = append(names, a.Name)
		}
		fmt.Fprintf(&b, "missing: %s\n", strings.Join(names, ", "))
	case len(p.Arguments) == 0:
		b.WriteString("this prompt takes no arguments\n")
	default:
		fmt.Fprintf(&b, "every argument has a value already, and this is left: %s\n", clean(left, maxFieldText))
	}
	fmt.Fprintf(&b, "type: %s\n", strings.TrimSpace("/"+p.Command+" "+p.Hint()))
	for _, a := range p.Arguments {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(a.Name+": "+a.Description, ": "))
	}
	if len(p.Arguments) > 0 {
		b.WriteString(`A value of several words stands in quotes; name=value names the argument; the last one takes the rest.`)
	}
	return tools.Errorf(tools.BadInput, "%s", strings.TrimSpace(b.String()))
}
