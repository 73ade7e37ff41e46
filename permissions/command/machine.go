package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
	"acp-agent/internal/shell"
)

// machineForms lists the programs that show processes, sockets or the state of the machine. The regular
// expression of each matches the arguments, joined by blanks, with which it does nothing else. Options
// that print the environment of processes, look names up in the network, write, wait, kill or set are
// left out on purpose: ps e, ss -K and -D, top without an end, hostname NAME, netstat and lsof without -n.
//
// The forms of ps are narrow. If ps does not understand one argument, it reads all of them again as
// letters without a dash, among which e prints the environment. So -e stands alone with one form of
// output, and the names of users, which may not exist, are left out.
//
// Each is compiled when its program is first judged: all of them take 5 ms, for which the first command
// of a process would wait, whatever it is.
var machineForms = sync.OnceValue(func() map[string]func() *regexp.Regexp {
	const (
		pids     = `[1-9][0-9]{0,6}(,[1-9][0-9]{0,6})*`
		column   = `(pid|ppid|pgid|sid|tid|user|uid|euser|ruser|group|gid|cmd|command|args|comm|ucmd|%cpu|pcpu|%mem|pmem|rss|vsz|sz|time|etime|etimes|lstart|start|stime|stat|s|state|tty|tt|nlwp|pri|ni|nice|psr|wchan)`
		columns  = column + `(:[0-9]{1,3})?=?(,` + column + `(:[0-9]{1,3})?=?)*`
		keys     = `[-+]?` + column + `(,[-+]?` + column + `)*`
		psMore   = `( -o ?` + columns + `| --sort[= ]` + keys + `| --no-headers?| --no-heading| --forest| -ww?| ww?| -p ?` + pids + `| --pid[= ]` + pids + `| --ppid[= ]` + pids + `)*`
		port     = `[0-9]{1,5}`
		protocol = `(TCP|UDP|tcp|udp)`
		address  = `([46]?` + protocol + `?(:` + port + `([,-]` + port + `)*)?)`
		name     = `[A-Za-z0-9][A-Za-z0-9._-]*`
		filter   = `((state (listening|established|connected|all|[a-z]+-[a-z0-9-]+)|[sd]port (=|==|eq|!=) :?` + port + `|and|or|\(|\)|and \(|or \()( |$))*`
	)
	forms := map[string]func() *regexp.Regexp{}
	for program, form := range map[string]string{
		"ps": `((a?u?x?w*|aux[wf]*|-aux[wf]*|axf?u?w*|-ax|-A|-Af|-AF|-f|-F|-l|-ef|-efww?|-eF|-el|-e|-ely)?(?: --sort[= ]` + keys + `| --no-headers?| ww?| -ww?| --forest)*` +
			`|(ax|-ax|-A|-e|aux?)? ?-o ?` + columns + psMore + `|(-eo|-Ao|-axo|axo|-ao|ao) ` + columns + psMore + `|(-f |-F |-l |u )?-?p ?` + pids + psMore + `|` + pids + psMore + `|-C ` + name + psMore + `)`,
		"pgrep":    `((-[alfnoxvciw]+|--full|--list-name|--list-full|--newest|--oldest|--exact|--count|-[uUPgts] ?[A-Za-z0-9][A-Za-z0-9._,-]*) )*(-[uUPgts] )?x`,
		"pidof":    `(-[sxc]+ )*` + name + `( ` + name + `)*`,
		"pstree":   `((-[apulcnhgTAUs]+|` + name + `)( |$))*`,
		"lsof":     `(((-[anPtUlwR]*n[anPtUlwR]*)|-[anPtUlwR]+|-[anPtUlwR]*i ?` + address + `|-s ?` + protocol + `:[A-Z_,^]+|-p ?` + pids + `|-c ?` + name + `|-u ?` + name + `|-F[a-zA-Z0-9]*|\+c ?[0-9]{1,2})( |$))*`,
		"ss":       `((-[natlpuxwiemosHO460]+|--(numeric|all|listening|tcp|udp|unix|raw|processes|extended|summary|no-header|ipv4|ipv6|oneline|info|memory|options))( |$))*` + filter,
		"netstat":  `((-[tulnapersiWxvof46g]+|--(numeric|all|listening|tcp|udp|programs|program|route|extend|statistics|interfaces|wide)|tcp|udp|inet6?)( |$))*`,
		"hostname": `(-s|-I|--short|--all-ip-addresses)?`,
		"free":     `((-[bkmghtwlv]+|--(bytes|kibi|mebi|gibi|kilo|mega|giga|human|total|wide|si|lohi))( |$))*`,
		"uptime":   `(-p|-s|--pretty|--since)?`,
		"vmstat":   `((-[anmsdDwtf]+|[0-9]{1,2} [0-9]{1,2})( |$))*`,
		"w":        `(-[hsufio]+)?`,
		"who":      `(-[abdHlmpqrstTu]+)?`,
		"users":    ``,
		"top":      `(-b ?-?n ?[1-5]|-n ?[1-5] -b|-l ?[1-5]( -n [0-9]{1,3})?)( -o [-+]?[%A-Za-z]+| -c| -p ?` + pids + `| -w [0-9]{1,3})*`,
		"ip":       `((-4|-6|-br|-brief|-o|-oneline|-s|-stats|-d|-details|-j|-json|-p|-pretty) )*(a|addr|address|l|link|r|route|n|neigh|rule)( (show|list|ls))?( dev [a-z0-9._-]+)?`,
		"ifconfig": `(-a|lo[0-9]?|[a-z]+[0-9]+[a-z0-9]*)?`,
	} {
		forms[program] = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + form + `)$`) })
	}
	return forms
})

// lsof adds -n, with which lsof does not look names up in the network and otherwise shows the same.
func (e *expander) lsof(c *syntax.CallExpr, argv []string) {
	if !numericOutput("lsof", argv[1:]) {
		at := int(c.Args[0].End().Offset())
		e.edits = append(e.edits, edit{at, at, " -n"})
	}
}

// machine judges a program that shows the machine. Such a program runs where it sees the machine, see
// Verdict.Machine. Where it cannot run there, it is asked about.
func (l *listing) machine(part *Part, s simple) finding {
	args := make([]string, len(s.args()))
	for i, w := range s.args() {
		args[i] = w.value
		if w.value == "" || strings.ContainsAny(w.value, " \t\n") && !hasWord("pgrep ss", s.name()) {
			return asks(Unlisted, "the argument of "+s.name()+" is not on the list of what only reads")
		}
	}
	if s.name() == "pgrep" && len(args) > 0 {
		if pattern := args[len(args)-1]; strings.HasPrefix(pattern, "-") || strings.ContainsAny(strings.Join(args[:len(args)-1], ""), " \t\n") {
			return asks(Unlisted, "the argument of pgrep is not on the list of what only reads")
		}
		args[len(args)-1] = "x"
	}
	joined := strings.Join(args, " ")
	if !machineForms()[s.name()]().MatchString(joined) || !numericOutput(s.name(), args) {
		return asks(Unlisted, "the arguments "+joined+" of "+s.name()+" are not on the list of what only reads").orNotReadOnly(s.name() + " shows the machine")
	}
	if l.env.Machine == nil || !l.env.Machine() {
		return asks(Unlisted, s.name()+" shows the machine, most of which a sandbox hides from it").orNotReadOnly(s.name() + " shows the machine")
	}
	part.machine = true
	return allowed()
}

// numericOutput reports arguments with which lsof or netstat does not look names up in the network.
func numericOutput(program string, args []string) bool {
	if program != "lsof" && program != "netstat" {
		return true
	}
	return slices.ContainsFunc(args, func(a string) bool {
		letters := a
		if program == "lsof" {
			letters, _, _ = strings.Cut(a, "i") // an address follows
		}
		return a == "--numeric" || len(letters) > 1 && letters[0] == '-' && letters[1] != '-' && !strings.ContainsAny(letters[1:2], "scupF") && strings.Contains(letters, "n")
	})
}

// onMachine decides about a text that shows the machine. Such a text runs outside of any sandbox, so
// everything else in it must be a program that reads no file, and all words must be known.
func onMachine(v Verdict, file *syntax.File, env Env) Verdict {
	shows := func(p Part) bool { return p.machine }
	at := slices.IndexFunc(v.Parts, shows)
	if at < 0 || v.Action == capability.Deny || v.Validation {
		return v
	}
	alone := !slices.ContainsFunc(v.Parts, func(p Part) bool { return !p.opensNoFile() })
	if alone && v.Action == capability.Ask {
		alone = !expansionsIn(file).set && shell.Confirm(v.Text, file, env.Dialect, env.Encoding) == nil
	}
	if alone {
		for i := range v.Parts {
			v.Parts[i].set(finding{action: capability.Allow, class: ReadOnly, reason: machineReason, set: true})
		}
		v.Action, v.Class, v.Reason, v.ToAllow, v.Machine = capability.Allow, ReadOnly, machineReason, nil, true
		return v
	}
	name := v.Parts[at].Argv[0]
	pt := parts{text: v.Text, list: v.Parts}
	for i := range pt.list {
		if pt.list[i].machine {
			pt.list[i].raise(asks(Unlisted, name+" shows the machine outside of any sandbox, and another part of the text opens files or does more").orNotReadOnly(name + " shows the machine"))
		}
	}
	return pt.verdict()
}

// MachineEnv returns the variables, as NAME=value, with which a text runs that shows the machine: the
// shell finds its programs in the directories of the system.
func MachineEnv() []string {
	return []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin", "PS_FORMAT=", "PS_PERSONALITY=", "CMD_ENV="}
}

// machineReason is the reason for a text that is allowed to show the machine.
const machineReason = "every command only shows what the machine does, or reads what another prints"

// opensNoFile reports a part that shows the machine, or that only prints, waits a little, or reads its
// input.
func (p Part) opensNoFile() bool {
	waits := p.Action == capability.Ask && p.notReadOnly == "" && p.Class == Endless && len(p.Argv) > 0 && p.Argv[0] == "sleep"
	switch {
	case p.Action != capability.Allow && !waits, len(p.Reads) > 0, len(p.Wrote) > 0:
		return false
	case p.redirect:
		return true
	case p.machine:
		return p.Action == capability.Allow && p.Static && len(p.outer) == 0 && !p.Background
	case !p.Static || len(p.Argv) == 0 || len(p.outer) > 0 || p.Background:
		return false
	case hasWord("grep egrep fgrep", p.Argv[0]):
		return !slices.ContainsFunc(p.Argv, func(a string) bool { return shortOption(a, 'r') || shortOption(a, 'd') || strings.HasPrefix(a, "--") })
	}
	return hasWord("echo printf true false : exit cat head tail wc sort uniq cut tr sed awk nl rev column date sleep", p.Argv[0])
}
