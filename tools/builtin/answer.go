package builtin

import (
	"bytes"
	"strings"
)

const (
	// maxName bounds the path of one file, maxSaid what is kept of the error
	// output, in bytes.
	maxName = 64 << 10
	maxSaid = 2 << 10
)

// answer reads the output of [ripgrep.command] as it comes, one record at a
// time: whatever the shell had to say, NUL; for each file its name, NUL and,
// when counted, a number and LF; then an empty name, NUL, and the error output.
// Names may hold any other byte.
type answer struct {
	counted bool
	// take gets each file: its path below the directory, with slashes, and
	// whether its number is not 0.
	take func(name string, hit bool)

	at   answerPart
	part []byte
	name string
	said []byte
	bad  bool
}

type answerPart int

const (
	inNoise answerPart = iota
	inName
	inCount
	inSaid
)

// complete reports whether the answer was well-formed and has come to its end.
func (a *answer) complete() bool { return a.at == inSaid && !a.bad }

// Write takes a piece of the output. It never fails, so that what is wrong
// with the answer is judged once its exit code is known.
func (a *answer) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 && !a.bad {
		if a.at == inSaid {
			said, _, more := bytes.Cut(p, []byte{0})
			a.bad = more // what a shell's variable held has no NUL
			a.said = append(a.said, said[:min(len(said), maxSaid-len(a.said))]...)
			break
		}
		end := byte(0)
		if a.at == inCount {
			end = '\n'
		}
		part, rest, ended := bytes.Cut(p, []byte{end})
		p = rest
		a.hold(part)
		if ended && !a.bad {
			a.endPart(string(a.part))
			a.part = a.part[:0]
		}
	}
	return size, nil
}

func (a *answer) hold(part []byte) {
	switch {
	case a.at == inNoise:
	case len(a.part)+len(part) > maxName:
		a.bad = true
	default:
		a.part = append(a.part, part...)
	}
}

func (a *answer) endPart(part string) {
	switch a.at {
	case inNoise:
		a.at = inName
	case inName:
		if part == "" {
			a.at = inSaid
			return
		}
		if a.name, a.bad = belowHere(part); a.bad {
			return
		}
		if a.counted {
			a.at = inCount
			return
		}
		a.take(a.name, true)
	case inCount:
		a.at = inName
		a.bad = part == "" || strings.Trim(part, "0123456789") != ""
		if !a.bad {
			a.take(a.name, part != "0")
		}
	}
}
