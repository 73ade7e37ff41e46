package subagent

import (
	"fmt"

	"acp-agent/kinds"
)

// Problem is something that is wrong with a manifest, or with where manifests are.
type Problem struct {
	// File is where it stands; Line counts from 1 and is 0 when it is about the whole.
	File string
	Line int
	// Text says what is wrong, in one visible line.
	Text string
	// Warning says that the agent is there nevertheless: something of its manifest has
	// no effect.
	Warning bool
}

// Error implements error: file:line: text.
func (p *Problem) Error() string { return p.String() }

// String returns the problem in one line: file:line: text.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// maxProblem bounds the text of a problem, in characters: it may quote a file.
const maxProblem = 500

// problem makes one.
func problem(file string, line int, format string, args ...any) Problem {
	return Problem{File: kinds.Line(file, maxProblem), Line: line, Text: kinds.Line(fmt.Sprintf(format, args...), maxProblem)}
}
