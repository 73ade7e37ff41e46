package mcp

import (
	"strings"
	"unicode"

	"acp-agent/tools"
)

// fill gives the arguments of a prompt their values out of what was typed behind its
// command. A word is the value of the next argument that has none; it may stand in quotes,
// or have the name of an argument before it, as in name=value. The last argument that has
// none takes all that is left. An argument without a value is not among the values; the
// error says in words for a user what is missing or too much, and how to type it.
func (p *Prompt) fill(typed string) (map[string]string, error) {
	values := map[string]string{}
	rest := strings.TrimSpace(typed)
	for rest != "" {
		open := p.open(values)
		if len(open) == 0 { // it takes none: the last one would have taken all
			return nil, p.misused("this prompt takes no arguments")
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
	var missing []string
	for _, a := range p.Arguments {
		if values[a.Name] != "" {
			continue
		}
		delete(values, a.Name)
		if a.Required {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		return nil, p.misused("missing: " + strings.Join(missing, ", "))
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

// misused is the error of a command that was typed in a wrong way, with how to type it.
func (p *Prompt) misused(why string) error {
	lines := []string{why, strings.TrimSpace("type: /" + p.Command + " " + p.Hint())}
	for _, a := range p.Arguments {
		lines = append(lines, strings.TrimSuffix("  "+a.Name+": "+a.Description, ": "))
	}
	if len(p.Arguments) > 0 {
		lines = append(lines, "A value of several words stands in quotes; name=value names the argument; the last one takes the rest.")
	}
	return &tools.Error{Kind: tools.BadInput, Message: strings.Join(lines, "\n")}
}
