package command

import (
	"mvdan.cc/sh/v3/syntax"
)

// role is what matters about a command to the commands that its input or output is connected with.
type role struct {
	raw, shell, reads, fetches, prints, evals bool
}

func roleOf(s simple) role {
	return role{
		raw: rawNetwork(s), shell: isShell(s.name()), reads: readsProgram(s),
		fetches: fetches(s), prints: printsEnvironment(s), evals: s.name() == "eval",
	}
}

// roles returns one command for each role, so that the pairs of a long text stay few. It drops commands
// without a role.
func roles(list []simple) []simple {
	seen := map[role]bool{{}: true}
	var out []simple
	for _, s := range list {
		if r := roleOf(s); !seen[r] {
			seen[r] = true
			out = append(out, s)
		}
	}
	return out
}

// connected judges what some commands feed to others.
func connected(from, to []simple) finding {
	var f finding
	if from = roles(from); len(from) == 0 {
		return f
	}
	for _, t := range roles(to) {
		for _, s := range from {
			f = f.worse(judgeFlow(s, t))
		}
	}
	return f
}

// judgeFlow judges one command's output as another one's input.
func judgeFlow(from, to simple) finding {
	switch {
	case rawNetwork(from) && isShell(to.name()) && readsProgram(to),
		isShell(from.name()) && readsProgram(from) && rawNetwork(to):
		return denies(ReverseSh, "a shell is connected to the network")
	case fetches(from) && (readsProgram(to) || to.name() == "eval"):
		return denies(NetToShell, "network content is run by "+to.name())
	case printsEnvironment(from) && fetches(to):
		return denies(Exfil, "the environment is sent over the network by "+to.name())
	default:
		return finding{}
	}
}

// checkRedirected judges what the redirections of a statement feed to its commands, and take from them.
// fed are the commands in the substitutions of the redirections.
func (j *judge) checkRedirected(s *syntax.Stmt, ran, fed []simple, from int) {
	j.parts.raiseFrom(from, connected(fed, ran).worse(connected(ran, fed)))
	for _, r := range s.Redirs {
		if writesFile(r.Op) {
			j.rememberFetched(r, ran)
		}
	}
}

// rememberFetched notes the file that a redirection fills with the output of a network command.
func (j *judge) rememberFetched(r *syntax.Redirect, ran []simple) {
	for _, s := range ran {
		if !fetches(s) {
			continue
		}
		target := j.words.word(r.Word, s.at)
		if names, ok := s.at.join(target.value); ok && target.static {
			for _, name := range names {
				j.denial.fetched[name] = true
			}
		}
	}
}
