package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/pathname"
)

// writesFile reports an operator that opens a file for writing.
func writesFile(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut,
		syntax.AppClob, syntax.RdrAllClob, syntax.AppAllClob:
		return true
	}
	return false
}

// redirects judges the redirections of a statement. It returns the commands that ran in the
// substitutions of their words.
func (j *judge) redirects(list []*syntax.Redirect, at dirs, floor finding) []simple {
	var fed []simple
	for _, r := range list {
		if r.Word != nil {
			fed = append(fed, j.inside(r.Word, at, floor)...)
		}
		if r.Hdoc != nil {
			fed = append(fed, j.inside(r.Hdoc, at, floor)...)
		}
		p := Part{Text: j.parts.redirectText(r), redirect: true}
		f := j.redirect(&p, r, at)
		if f.set {
			p.set(floor.worse(f))
			j.parts.list = append(j.parts.list, p)
		}
	}
	return fed
}

func (pt *parts) redirectText(r *syntax.Redirect) string {
	text := r.Op.String()
	if r.N != nil {
		text = r.N.Value + text
	}
	if r.Word != nil {
		text += " " + source(pt.text, r.Word)
	}
	return text
}

// redirect judges one redirection. It returns no finding about one that touches no file.
func (j *judge) redirect(p *Part, r *syntax.Redirect, at dirs) finding {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		return asks(Dynamic, "the redirection sets a variable").orNotReadOnly("the redirection sets a variable")
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if !literalWords(r.Word, r.Hdoc) {
			return asks(Dynamic, "the here-document is only known when it runs")
		}
		return finding{}
	case syntax.WordHdoc:
		if w := j.words.word(r.Word, at); !w.static {
			return asks(Dynamic, "the here-string is only known when it runs")
		}
		return finding{}
	case syntax.DplIn, syntax.DplOut:
		if w := j.words.word(r.Word, at); w.static && isDescriptor(w.value) {
			return finding{}
		}
	case syntax.RdrIn:
		return j.redirectFrom(p, r, at)
	}
	return j.redirectTo(p, r, at)
}

// isDescriptor reports the word of ">&" or "<&" that names a file descriptor, moves or closes one.
func isDescriptor(v string) bool {
	if v == "-" {
		return true
	}
	v = strings.TrimSuffix(v, "-")
	return v != "" && len(v) < 4 && strings.Trim(v, "0123456789") == ""
}

func (j *judge) redirectFrom(p *Part, r *syntax.Redirect, at dirs) finding {
	w := j.words.word(r.Word, at)
	if f := netDevice(w.value); f.set {
		return f
	}
	p.Static = w.static
	return allowed().worse(j.judgePath(p, w, at, true))
}

// redirectTo judges a redirection that opens a file for writing.
func (j *judge) redirectTo(p *Part, r *syntax.Redirect, at dirs) finding {
	w := j.words.word(r.Word, at)
	p.Static = w.static
	if w.static && w.value == "/dev/null" {
		return finding{}
	}
	if f := firstDeny(netDevice(w.value), rawDevice(w.value), j.persists(w.value, at)); f.set {
		return f
	}
	if !w.static {
		return asks(Dynamic, "the output goes to a file that is only known when it runs").orNotSandboxable(j.wordNotSandboxable(w, at, true)).orNotReadOnly("the output goes to a file")
	}
	if names, ok := at.join(w.value); ok {
		for _, name := range names {
			resolved, _ := j.env.Inside(name)
			p.Wrote = append(p.Wrote, resolved)
		}
	}
	notSandboxable := j.pathNotSandboxable(w.value, at, true)
	if sensitive(w.value, r.Word, j.env.Home) {
		return asksEachTime(reasonRedirect)
	}
	if traverses(w.value) {
		return asksEachTime(reasonTraversal)
	}
	f := asks(Writes, "the output is written to "+w.value)
	f.notSandboxable = notSandboxable
	return f
}

// netDevice denies the paths that bash turns into network connections, which reverse shells use.
func netDevice(name string) finding {
	if strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/") {
		return denies(ReverseSh, "the shell opens a network connection through "+strings.ReplaceAll(name, unknown, "…"))
	}
	return finding{}
}

// sensitive reports a target that R118 names: the directories of the system, and the dot files of the
// home directory.
func sensitive(name string, w *syntax.Word, home string) bool {
	for _, dir := range []string{"/etc", "/sys", "/proc", "/boot", "/dev", "/usr", "/bin", "/sbin", "/lib"} {
		if pathname.Contains(dir, name) {
			return true
		}
	}
	if strings.HasPrefix(w.Lit(), "~/.") {
		return true
	}
	return home != "" && strings.HasPrefix(name, strings.TrimSuffix(home, "/")+"/.")
}
