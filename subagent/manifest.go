package subagent

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"acp-agent/capability"
)

// Manifest is an agent as data. It grows with what agents can differ in; a
// field that nothing heeds would be a promise that is not kept.
type Manifest struct {
	// Name is how people and other agents call it.
	Name        string
	Description string
	// Prompt is the head of its system prompt.
	Prompt string
	// Tools are the native tools that it has; nil means all (R10).
	Tools []string
	// Always are extension tools that it is told of from the start (R87).
	Always []string
	// Requires is what it needs beside what its tools do (R112).
	Requires capability.RequirementSet
}

//go:embed main.md
var mainPrompt string

// Main is the agent that a person talks to.
func Main() Manifest {
	return Manifest{Name: "main", Description: "The agent that the person talks to.", Prompt: mainPrompt}
}

// Environment is what an agent is told of where it works. It is taken once,
// when a session opens, so that the system prompt never changes (R138).
type Environment struct {
	Cwd        string
	Additional []string
	Scratch    string
	OS, Shell  string
	Date       time.Time
	// Instructions are those of the person and the project (R86), Skills the
	// lines about the skills that can be loaded (R85).
	Instructions, Skills string
}

// System makes the system prompt: the manifest's prompt, the instructions, the
// skills, then the environment (R138). The tool catalogue follows in the
// request itself.
func (m Manifest) System(env Environment) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(m.Prompt))
	for _, block := range []string{env.Instructions, env.Skills} {
		if block = strings.TrimSpace(block); block != "" {
			b.WriteString("\n\n" + block)
		}
	}
	b.WriteString("\n\nEnvironment\n")
	fmt.Fprintf(&b, "%s%s\n", cwdLine, env.Cwd)
	for _, dir := range env.Additional {
		fmt.Fprintf(&b, "- Also part of the project: %s\n", dir)
	}
	if env.Scratch != "" {
		fmt.Fprintf(&b, "- Scratch directory for temporary files, writable without asking: %s\n", env.Scratch)
	}
	if env.OS != "" {
		fmt.Fprintf(&b, "- System: %s\n", env.OS)
	}
	if env.Shell != "" {
		fmt.Fprintf(&b, "- Commands run under: %s\n", env.Shell)
	}
	if !env.Date.IsZero() {
		fmt.Fprintf(&b, "- Date: %s\n", env.Date.Format(time.DateOnly))
	}
	return b.String()
}

const cwdLine = "- Working directory: "

// CwdOf reads the working directory out of a system prompt that System made.
func CwdOf(system string) string {
	// The last one is ours: instructions may hold a line like it.
	cwd := ""
	for line := range strings.Lines(system) {
		if rest, ok := strings.CutPrefix(line, cwdLine); ok {
			cwd = strings.TrimSpace(rest)
		}
	}
	return cwd
}
