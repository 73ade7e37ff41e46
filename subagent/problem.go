package subagent

import (
	"fmt"

	"acp-agent/kinds"
)

// Problem is a problem with a manifest or with a folder of manifests.
type Problem struct {
	// File is the file in question. Line counts from 1 and is 0 if the problem concerns the
	// whole file.
	File string
	Line int
	// Text describes the problem in one printable line.
	Text string
	// Warning means that the agent is used nevertheless: a part of its manifest has no effect.
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

// problem returns a Problem.
func problem(file string, line int, format string, args ...any) Problem {
	return Problem{File: kinds.Line(file, maxProblem), Line: line, Text: kinds.Line(fmt.Sprintf(format, args...), maxProblem)}
}
