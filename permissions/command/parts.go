package command

import (
	"path"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
)

// parts collects the parts of a text with the findings about them.
type parts struct {
	text string
	list []Part
}

// add records a part that is not a simple command.
func (pt *parts) add(node syntax.Node, f finding) {
	p := Part{Text: source(pt.text, node)}
	p.set(f)
	pt.list = append(pt.list, p)
}

// verdict returns the finding of the strictest part as the verdict on the text.
func (pt *parts) verdict() Verdict {
	worst := allowed()
	worst.reason = "every command only reads, inside the workspace"
	name := ""
	v := Verdict{Text: pt.text, Parts: pt.list}
	for _, p := range pt.list {
		f := p.finding()
		f.notSandboxable, f.notReadOnly = "", "" // count for each part by itself
		if next := worst.worse(f); next != worst {
			worst = next
			if len(p.Argv) > 0 {
				name = path.Base(p.Argv[0])
			}
		}
		v.Network = v.Network || p.Network
		v.Validation = v.Validation || p.Validation
	}
	if len(pt.list) == 0 {
		worst = asks(Unlisted, "the command is empty")
		v.Parts = []Part{{Text: pt.text, Action: capability.Ask, Class: Unlisted, Reason: worst.reason, notReadOnly: worst.reason}}
	}
	v.Action, v.Class, v.Reason = worst.action, worst.class, worst.reason
	if v.Action == capability.Ask {
		if name == "" && len(v.Parts[0].Argv) > 0 {
			name = path.Base(v.Parts[0].Argv[0])
		}
		if name == "" {
			name = pt.text
		}
		v.ToAllow = []string{pt.text, name, "*"}
	}
	return v
}

// raiseFrom makes the parts from an index on at least as strict as f.
func (pt *parts) raiseFrom(from int, f finding) {
	if !f.set {
		return
	}
	for i := from; i < len(pt.list); i++ {
		pt.list[i].raise(f)
	}
}

// doubt raises every part by a finding about the whole text: none of them may be known by its words.
func (pt *parts) doubt(f finding) {
	for i := range pt.list {
		p := &pt.list[i]
		p.raise(f)
		p.Static, p.Always, p.NoAlways = false, nil, "it could be read in more than one way"
	}
}

// detachFrom marks the parts from an index on as running in the background.
func (pt *parts) detachFrom(from int) {
	for i := range pt.list[from:] {
		pt.list[from+i].Background = true
	}
}

func (p *Part) set(f finding) {
	p.Action, p.Class, p.Reason, p.Validation, p.notSandboxable, p.notReadOnly = f.action, f.class, f.reason, f.validation, f.notSandboxable, f.notReadOnly
}

func (p *Part) finding() finding {
	return finding{action: p.Action, class: p.Class, reason: p.Reason, validation: p.Validation, notSandboxable: p.notSandboxable, notReadOnly: p.notReadOnly, set: true}
}

// raise makes a part at least as strict as f.
func (p *Part) raise(f finding) {
	p.set(p.finding().worse(f))
}

// source returns the piece of a text that a node was parsed from.
func source(text string, node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if from < 0 || to > len(text) || from > to {
		return ""
	}
	return text[from:to]
}
