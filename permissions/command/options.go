package command

import (
	"strings"
)

// options is the grammar of those options of a command that are known to be harmless (C4). Any other
// option asks. Long names must be spelt out.
type options struct {
	flags    string // short options without a value; they may be clustered
	valued   string // short options with a value, attached or in the next word
	file     string // short options whose value is a file that is read
	may      string // short options with or without an attached value
	long     string // long options without a value
	longVal  string // long options with a value, attached or in the next word
	longMay  string // long options with or without an attached value
	longFile string // long options whose value is a file that is read
	number   bool   // accepts -5
	posix    bool   // options end at the first operand
	apart    bool   // a short option takes the next word as its value, even from inside a cluster
	lone     bool   // no clusters of short options, and no attached values
}

// parsed is a command line that the grammar accepts.
type parsed struct {
	operands []word
	files    []word            // values of options that name files
	seen     map[string]string // the values of each option, one on a line
	// late holds the options after an operand, with their values. On some systems the programs take
	// them for operands, so each must be harmless as a path, too.
	late []word
}

// note records an option. A repeated option keeps all its values, since not every program lets the
// last one win.
func (p parsed) note(name, value string) {
	if before := p.seen[name]; before != "" {
		value = before + "\n" + value
	}
	p.seen[name] = value
}

// has reports whether one of the options was given.
func (p parsed) has(names ...string) bool {
	for _, n := range names {
		if _, ok := p.seen[n]; ok {
			return true
		}
	}
	return false
}

// hasPattern reports whether an option of grep or rg holds the pattern, so that the first operand is a file.
func (p parsed) hasPattern() bool { return p.has("-e", "-f", "--regexp", "--file") }

// parse reads the words after the command's name. bad is the first option that the
// grammar does not know, or one that lacks its value.
func (o options) parse(args []word) (p parsed, bad string) {
	p.seen = map[string]string{}
	for i := 0; i < len(args); i++ {
		v := args[i].value
		var next *word
		if i+1 < len(args) {
			next = &args[i+1]
		}
		var used bool
		switch {
		case v == "--":
			p.operands = append(p.operands, args[i+1:]...)
			return p, ""
		case strings.HasPrefix(v, "--"):
			used, bad = o.longOption(&p, args[i], next)
		case len(v) > 1 && v[0] == '-':
			used, bad = o.cluster(&p, args[i], next)
		case o.posix:
			p.operands = append(p.operands, args[i:]...)
			return p, ""
		default:
			p.operands = append(p.operands, args[i])
			continue
		}
		if bad != "" {
			return p, bad
		}
		late := len(p.operands) > 0
		if late {
			p.late = append(p.late, args[i])
		}
		if used {
			if i++; late {
				p.late = append(p.late, args[i])
			}
		}
	}
	return p, ""
}

// longOption reads a long option. used says that next was its value.
func (o options) longOption(p *parsed, w word, next *word) (used bool, bad string) {
	name, value, attached := strings.Cut(w.value, "=")
	switch {
	case hasWord(o.long, name) && !attached, hasWord(o.longMay, name):
		p.note(name, value)
		return false, ""
	case hasWord(o.longVal, name), hasWord(o.longFile, name):
		from := w.piece(value)
		if !attached {
			if next == nil {
				return false, w.value
			}
			from, used = *next, true
		}
		p.note(name, from.value)
		if hasWord(o.longFile, name) {
			p.files = append(p.files, from)
		}
		return used, ""
	default:
		return false, w.value
	}
}

// cluster reads a word of short options. used says that next was the value of the last one.
func (o options) cluster(p *parsed, w word, next *word) (used bool, bad string) {
	v := w.value
	if o.number && strings.Trim(v[1:], "0123456789") == "" {
		p.seen["-NUM"] = v[1:]
		return false, ""
	}
	if o.lone && len(v) > 2 {
		return false, v
	}
	for i := 1; i < len(v); i++ {
		c := v[i : i+1]
		switch {
		case strings.Contains(o.flags, c):
			p.seen["-"+c] = ""
			continue
		case strings.Contains(o.may, c):
			p.note("-"+c, v[i+1:])
			return false, ""
		case strings.Contains(o.valued, c), strings.Contains(o.file, c):
		default:
			return false, v
		}
		from := w.piece(v[i+1:])
		if from.value != "" && o.apart {
			return false, v // what follows in the word are options again
		}
		if from.value == "" {
			if next == nil {
				return false, v
			}
			from, used = *next, true
		}
		p.note("-"+c, from.value)
		if strings.Contains(o.file, c) {
			p.files = append(p.files, from)
		}
		return used, ""
	}
	return false, ""
}
