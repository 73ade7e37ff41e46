package editor

import (
	"slices"
	"strings"
)

// question insists that a permission request can be seen and answered rightly.
func (j *judge) question(q *Question) {
	title := text(q.call["title"])
	if q.Dropped {
		j.lose("question", "%q was dropped without an answer", title)
		return
	}
	j.matter(q)
	j.choices(q, title)
}

// matter insists that what is asked about is shown: the command, each diff, the plan.
func (j *judge) matter(q *Question) {
	shown := []string{q.Title}
	for _, p := range q.Parts {
		shown = append(shown, p.Text)
	}
	for _, p := range q.look.Parts {
		shown = append(shown, p.Text)
	}
	all := flat(strings.Join(append(shown, q.look.Title), "\n"))
	title := text(q.call["title"])
	for _, p := range parts(list(q.call["content"])) {
		switch {
		case p.Kind == "diff" && p.Old == p.New:
		case p.Kind == "diff" && !covered(q.Parts, p) && !covered(q.look.Parts, p) && !strings.Contains(all+q.chat, base(p.Path)):
			j.lose("question", "%q shows neither the diff nor the name of %s", title, base(p.Path))
		case p.Kind == "text" && q.call["kind"] == "switch_mode" && !explains(p.Text):
			if !strings.Contains(all, flat(p.Text)) && !strings.Contains(q.chat, flat(p.Text)) {
				j.lose("question", "%q does not show %q", title, head(flat(p.Text), 60))
			}
		}
	}
	// A question about a command that has diffs is about what it changed.
	if content := parts(list(q.call["content"])); q.call["kind"] == "execute" && !hasDiff(content) {
		for line := range strings.Lines(commands(q.call, content)) {
			if !strings.Contains(all, flat(line)) {
				j.lose("question", "%q does not show %q", title, flat(line))
			}
		}
	}
}

// commands returns the command of the call in a question, and the other commands that its text shows.
func commands(call map[string]any, content []Part) string {
	all := text(dig(call["rawInput"], "cmd"))
	for _, p := range content {
		for i, piece := range strings.Split(p.Text, "```") {
			if command, ok := strings.CutPrefix(piece, "sh\n"); ok && i%2 == 1 {
				all += "\n" + command
			}
		}
	}
	return all
}

func hasDiff(all []Part) bool {
	return slices.ContainsFunc(all, func(p Part) bool { return p.Kind == "diff" })
}

// explains reports whether a text is about the question and not what is asked about: why
// it is asked, and what an answer brings about.
func explains(s string) bool {
	return strings.Contains(s, "Asked because") || strings.HasPrefix(s, "If you allow this")
}

func covered(shown []Part, want Part) bool {
	for _, p := range shown {
		if p.covers(want) {
			return true
		}
	}
	return false
}

// choices insists that each choice sends what its label says, and that no two look alike.
func (j *judge) choices(q *Question, title string) {
	labels := map[string]Option{}
	reached := map[string]bool{}
	asks := answers(q.options, title)
	for _, c := range q.Choices {
		if other, taken := labels[c.Label]; taken && other.ID != c.Presses.ID {
			j.lose("answer", "%q: %q and %q are both %q", title, other.Name, c.Presses.Name, c.Label)
		}
		labels[c.Label] = c.Presses
		reached[verdict(c.Presses)] = true
		switch {
		case c.Sends.ID != c.Presses.ID && !narrower(c.Presses, c.Sends):
			j.lose("answer", "%q: %q sends %q", title, c.Presses.Name, c.Sends.Name)
		case asks && !q.Names:
			j.lose("answer", "%q: the answer %q is shown as %q", title, c.Presses.Name, c.Label)
		case asks && c.EndsTurn:
			j.lose("answer", "%q: the answer %q cancels the turn", title, c.Presses.Name)
		}
	}
	for _, o := range q.options {
		if !reached[verdict(o)] {
			j.lose("answer", "%q: no choice for %q", title, o.Name)
		}
	}
}

// verdict is what an option means for the call.
func verdict(o Option) string {
	v, _, _ := strings.Cut(o.Kind, "_")
	return v
}

// narrower reports whether one answer only allows, or only rejects, less than another.
func narrower(meant, sent Option) bool {
	return verdict(meant) == verdict(sent) && sent.Kind == verdict(sent)+"_once"
}

// answers reports whether options are answers to a question, each in its own words, and not
// about whether something may be: "Allow once", or what the title begins with.
func answers(options []Option, title string) bool {
	for _, o := range options {
		if verdict(o) == "allow" && (strings.HasPrefix(o.Name, "Allow") || strings.HasPrefix(title, o.Name)) {
			return false
		}
	}
	return true
}
