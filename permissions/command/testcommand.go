package command

import (
	"strings"
)

// test judges test and "[". Their options -v and -R evaluate the operand, and are not listed.
func (l *listing) test(part *Part, s simple, at dirs) finding {
	args := s.args()
	if s.name() == "[" {
		if len(args) == 0 || args[len(args)-1].value != "]" {
			return unlisted(s)
		}
		args = args[:len(args)-1]
	}
	f := allowed()
	for i := 0; i < len(args); i++ {
		v := args[i].value
		switch {
		case hasWord("-b -c -d -e -f -g -h -k -L -p -r -s -S -u -w -x -O -G -N", v) && i+1 < len(args):
			i++
			f = f.worse(l.judgePath(part, args[i], at, false))
		case hasWord("-nt -ot -ef", v):
			if i == 0 || i+1 == len(args) {
				return unlisted(s)
			}
			f = f.worse(l.judgePath(part, args[i-1], at, false)).worse(l.judgePath(part, args[i+1], at, false))
		case (v == "-a" || v == "-o") && (i == 0 || hasWord("! ( -a -o", args[i-1].value)):
			return asks(Unlisted, "the test "+v+" is not on the list of what only reads")
		case hasWord("-n -z = == != < > -eq -ne -lt -le -gt -ge ! -a -o ( )", v):
		case strings.HasPrefix(v, "-") && len(v) == 2 && (v[1] < '0' || v[1] > '9'):
			return asks(Unlisted, "the test "+v+" is not on the list of what only reads")
		}
	}
	return f
}
