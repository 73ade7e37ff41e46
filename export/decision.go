package export

import (
	"strings"

	"acp-agent/audit"
	"acp-agent/kinds"
)

// Decision is who allowed or refused a call, in the words of the audit.
type Decision struct {
	Verdict string `json:"verdict"`
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// ReadDecisions adds who allowed or refused each call of a session, by its audit in a directory.
// What the audit does not say is not known.
func ReadDecisions(dir, session string, into map[string]Decision) {
	_ = audit.Read(dir, session, func(r audit.Record, _ []byte) error {
		if _, known := into[r.Call]; r.Call != "" && r.Verdict != "" && (!known || r.Event == audit.End) {
			into[r.Call] = Decision{Verdict: r.Verdict, By: r.By, Reason: r.Reason}
		}
		return nil
	})
}

// sentence says in words who decided about a call; "" when nothing was decided.
func (d Decision) sentence() string {
	verb := "Allowed"
	switch d.Verdict {
	case "allow":
	case "deny":
		verb = "Refused"
	default:
		return ""
	}
	by := d.By
	if answer, asked := strings.CutPrefix(by, "person: "); asked {
		by = "the user (" + answerText(answer) + ")"
	} else if rule, isRule := strings.CutPrefix(by, "rule:"); isRule {
		by = "a rule (" + rule + ")"
	} else if by == "policy" {
		by = "the judge of commands"
	}
	text := verb
	if by != "" {
		text += " by " + by
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return kinds.Line(text, 400)
}

// answerText is an answer to a permission request, in words.
func answerText(answer string) string {
	words := map[string]string{
		"allow_once": "once", "allow_always": "always", "allow_project": "for the project",
		"reject_once": "this time", "reject_always": "always", "dismissed": "without an answer",
	}
	if text, known := words[answer]; known {
		return text
	}
	return answer
}
